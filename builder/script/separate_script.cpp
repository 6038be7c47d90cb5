#include "builder/script/separate_script.hpp"

#include "builder/script/script_frame.hpp"
#include "builder/script/separation.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

using base::quote_shell;

// What is bound is where the build cannot replace it by a link. Nothing but its own folder, /tmp and /dev/shm can be
// written: the other folders of its root would be memory without a limit.
constexpr std::string_view functions_part =
    R"sh(mkdir -p "$folder/separate" "$folder/scratch" "$folder/shm" "$folder/fetch/wheelhouse" "$folder/fetch/tmp"
passed=()
for name in PATH LANG LC_ALL LC_CTYPE LOGNAME USER TZ http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY \
    CURL_CA_BUNDLE REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE; do
    test -z "${!name-}" || passed+=("$name=${!name}")
done
resolver=$(readlink -f /etc/resolv.conf) # often a link into /run, which is not there
help=$({{program}} --help 2>&1) || true
shm=(--bind "$folder/shm" /dev/shm) # on the disk, whose limit holds: bubblewrap before 0.7
case "$help" in *' --size '*) shm=(--size {{shm}} --tmpfs /dev/shm) ;; esac
case "$help" in *' --disable-userns '*) shm+=(--disable-userns) ;; esac
in_namespace() { # FOLDER FILE [ARGUMENTS]: runs bash there, with "${mounts[@]}"
    env -i "${passed[@]}" {{governor}} bound {{bounds}} --folder "$folder" -- \
        {{program}} --unshare-user --unshare-pid --unshare-ipc --unshare-uts --die-with-parent --new-session \
        --cap-drop ALL --proc /proc --dev /dev "${shm[@]}" --remount-ro /dev \
        {{readable}} \
        --ro-bind-try /sys/devices/system/cpu /sys/devices/system/cpu \
        "${mounts[@]}" --remount-ro / --chdir "$1" /bin/bash "$1/$2" "${@:3}"
}
separately() { # FILE [ARGUMENTS]: as the build sees the attempt's folder, without a network
    local mounts=(--unshare-net --bind "$folder/scratch" /tmp --bind "$folder/separate" "$folder"
        --ro-bind "$folder/fetch/wheelhouse" "$folder/wheelhouse")
    in_namespace "$folder" "$@"
}
fetching() { # with the network: runs no code of the source, and writes where that never does
    local mounts=(--ro-bind-try "$resolver" "$resolver" --bind "$folder/fetch/tmp" /tmp
        --ro-bind "$folder/separate" "$folder/separate" --bind "$folder/fetch" "$folder/fetch")
    in_namespace "$folder/fetch" {{fetch}}
}
)sh";

constexpr std::string_view separate_part = R"sh(
begin separate
{{namespaces}}code=0
separately script.sh || code=$?
if test "$code" -eq {{over_limit}}; then phase={{limits}}; exit "$code"; fi
inner="$folder/separate"
# Its processes are gone. A link or a FIFO among its results is not followed.
is_file() { test -f "$1" && test ! -L "$1"; }
if test "$code" -ne 0; then
    ! is_file "$inner/exit.json" ||
        phase=$(head -c 4096 "$inner/exit.json" | sed -n 's/.*"phase":"\([a-z]\{1,20\}\)".*/\1/p' | grep . || echo "$phase")
    exit "$code"
fi
rm -rf "$folder/wheel"
mkdir "$folder/wheel"
if test ! -L "$inner/wheel"; then
    for file in "$inner"/wheel/*.whl; do
        ! is_file "$file" || mv "$file" "$folder/wheel/"
    done
fi
! is_file "$inner/built_by" || mv "$inner/built_by" "$folder/built_by"
begin done
)sh";

constexpr std::int64_t processes_of_any_build = 512, processes_of_a_core = 16;

std::int64_t processes_of(const Site& site) {
    const std::int64_t set = site.uploaded_sources->processes;
    return set > 0 ? set : processes_of_any_build + processes_of_a_core * site.cores;
}

std::int64_t memory_of(const Site& site, std::int64_t job_memory_mib) {
    return job_memory_mib > 0 ? job_memory_mib : site.uploaded_sources->memory_mib;
}

std::string render_bounds(const Site& site, const NamespaceBounds& job) {
    std::string text = "--processes " + std::to_string(processes_of(site)) + " --memory " +
                       std::to_string(memory_of(site, job.memory_mib)) + "M --disk " +
                       std::to_string(site.uploaded_sources->disk_gib) + "G";
    if (job.minutes > 0) text += " --seconds " + std::to_string(job.minutes * 60 + agent_is_late_s);
    return text;
}

}  // namespace

Site for_namespace(Site site) {
    site.compiler_cache_gib = 0;
    site.temporary.clear();
    site.offline_jobs = true;
    return site;
}

std::string describe_namespace_bounds(const Site& site) {
    return "with at most " + std::to_string(processes_of(site)) + " processes and threads, " +
           std::to_string(memory_of(site, site.memory_mib)) + " MiB of memory, " +
           std::to_string(site.uploaded_sources->disk_gib) + " GiB of disk and " +
           std::to_string(site.uploaded_sources->shm_mib) + " MiB of /dev/shm";
}

std::string render_namespaces(const Site& site, const NamespaceBounds& job) {
    std::string readable;
    for (const auto* folders : {&system_folders(), &site.uploaded_sources->readable}) {
        for (const auto& folder : *folders) {
            const std::string quoted = quote_shell(folder.string());
            readable += (readable.empty() ? "" : " ") + std::string("--ro-bind-try ") + quoted + " " + quoted;
        }
    }
    return fill(
        functions_part,
        {{"program", quote_shell(site.uploaded_sources->bubblewrap.string())},
         {"governor", quote_shell(site.governor.path().string())},
         {"bounds", render_bounds(site, job)},
         {"shm", std::to_string(static_cast<std::uint64_t>(site.uploaded_sources->shm_mib) * base::mib)},
         {"readable", readable},
         {"fetch", std::string(fetch_script)}});
}

std::string render_separate_script(const ScriptInput& input) {
    const NamespaceBounds job{input.attempt.job.memory_mib, input.attempt.job.max_walltime_minutes};
    return render_opening(frame_fields(input)) +
           fill(separate_part, {{"namespaces", render_namespaces(input.site, job)},
                                {"over_limit", std::to_string(over_limit_exit_code)},
                                {"limits", std::string(limits_phase)}});
}

}  // namespace wheelyard::builder
