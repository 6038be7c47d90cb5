#include "builder/script/separate_script.hpp"

#include "builder/script/script_frame.hpp"
#include "builder/script/separation.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

using base::quote_shell;

// --cap-drop is for an agent that runs as root. What is bound lies where the build cannot replace it by a link.
constexpr std::string_view namespace_part = R"sh(mkdir -p "$folder/scratch"
passed=()
for name in PATH LANG LC_ALL LC_CTYPE LOGNAME USER TZ http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY \
    CURL_CA_BUNDLE REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE; do
    test -z "${!name-}" || passed+=("$name=${!name}")
done
resolver=$(readlink -f /etc/resolv.conf) # often a link into /run, which is not there
env -i "${passed[@]}" {{program}} --unshare-user --unshare-pid --unshare-ipc --unshare-uts {{network}}\
    --die-with-parent --new-session --cap-drop ALL --proc /proc --dev /dev \
    {{readable}} \
    --ro-bind-try /sys/devices/system/cpu /sys/devices/system/cpu \
    --ro-bind-try "$resolver" "$resolver" \
    --bind "$folder/scratch" /tmp --bind "$folder/separate" "$folder" --chdir "$folder" \
    /bin/bash "$folder/{{file}}")sh";

constexpr std::string_view separate_part = R"sh(
begin separate
code=0
{{namespace}} || code=$?
inner="$folder/separate"
rm -f "$inner/pip.conf"
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

}  // namespace

Site for_namespace(Site site) {
    site.compiler_cache_gib = 0;
    site.temporary.clear();
    return site;
}

std::string render_namespace(const Site& site, Network network, std::string_view file) {
    std::string readable;
    for (const auto* folders : {&system_folders(), &site.uploaded_sources->readable}) {
        for (const auto& folder : *folders) {
            const std::string quoted = quote_shell(folder.string());
            readable += (readable.empty() ? "" : " ") + std::string("--ro-bind-try ") + quoted + " " + quoted;
        }
    }
    return fill(namespace_part, {{"program", quote_shell(site.uploaded_sources->bubblewrap.string())},
                                 {"network", network == Network::none ? "--unshare-net " : ""},
                                 {"readable", readable},
                                 {"file", std::string(file)}});
}

std::string render_separate_script(const ScriptInput& input) {
    const Network network = input.site.offline_jobs ? Network::none : Network::shared;
    return render_opening(frame_fields(input)) +
           fill(separate_part, {{"namespace", render_namespace(input.site, network, "script.sh")}});
}

}  // namespace wheelyard::builder
