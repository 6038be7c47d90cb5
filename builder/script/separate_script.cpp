#include "builder/script/separate_script.hpp"

#include "builder/script/script_frame.hpp"
#include "builder/script/separation.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace templates {  // templates/NAME

// What is bound is where the build cannot replace it by a link. Nothing but its own folder, /tmp and /dev/shm can be
// written: the other folders of its root would be memory without a limit.
extern const std::string_view namespaces;
extern const std::string_view separate;

}  // namespace templates

namespace {

using base::quote_shell;

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
                       std::to_string(site.uploaded_sources->disk_gib) + "G --idle " +
                       std::to_string(site.uploaded_sources->idle_s);
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
        templates::namespaces,
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
           fill(templates::separate, {{"namespaces", render_namespaces(input.site, job)},
                                      {"over_limit", std::to_string(over_limit_exit_code)},
                                      {"limits", std::string(limits_phase)}});
}

}  // namespace wheelyard::builder
