#include "builder/script/separate_script.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "builder/script/script_frame.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {

namespace templates {  // templates/NAME

// What is bound is where the build cannot replace it by a link. Nothing but its own folder, /tmp and /dev/shm
// can be written: the other folders of its root would be memory without a limit.
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

namespace {

namespace fs = std::filesystem;

// Without links, as far as the path exists.
fs::path real(const fs::path& path) {
    std::error_code error;
    fs::path found = fs::weakly_canonical(path, error);
    return error ? path.lexically_normal() : found;
}

bool is_below(const fs::path& path, const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

base::Status check_programs(const Site& site) {
    const fs::path& bubblewrap = site.uploaded_sources->bubblewrap;
    if (::access(bubblewrap.c_str(), X_OK) != 0)
        return base::fail("uploads.no_program", "The program that separates builds is missing",
                          bubblewrap.string(),
                          "install bubblewrap, or correct `bubblewrap` in [uploaded_sources] of site.toml");
    const fs::path governor = site.governor.path();
    if (::access(governor.c_str(), X_OK) == 0) return {};
    return base::fail(
        "uploads.no_governor", "The program that bounds builds is missing", governor.string(),
        "install it in the folder of wheelyard-builder, or set `program` in [governor] of site.toml");
}

base::Status check_user(uid_t user) {
    if (user != 0) return {};
    return base::fail("uploads.root", "The agent runs as root, and builds no sources that somebody uploaded",
                      {}, "run the agent as a user of its own, from that user's crontab");
}

// What only the agent may read.
struct Secret {
    std::string what;  // for people
    fs::path path;
    bool wholly = true;  // false: a folder inside it may be readable
};

std::vector<Secret> secrets_of(const Site& site, const EnvironmentMap& environment) {
    std::vector<Secret> secrets{{"the state folder", site.state_directory},
                                {"the work folder", site.work_directory}};
    if (site.registry) secrets.push_back({"the registry's token", site.registry->token_file});
    if (site.registry && !site.registry->promote_token_file.empty())
        secrets.push_back({"the token for promotions", site.registry->promote_token_file});
    const auto home = environment.find("HOME");
    if (home != environment.end() && !home->second.empty())
        secrets.push_back({"the home folder", home->second, false});
    return secrets;
}

std::vector<fs::path> readable_folders(const Site& site) {
    std::vector<fs::path> readable;
    for (const auto* folders : {&system_folders(), &site.uploaded_sources->readable}) {
        for (const fs::path& folder : *folders)
            readable.push_back(real(folder));
    }
    return readable;
}

base::Status check_folders(const Site& site, const EnvironmentMap& environment) {
    for (const Secret& secret : secrets_of(site, environment)) {
        const fs::path path = real(secret.path);
        for (const fs::path& folder : readable_folders(site)) {
            if (!is_below(path, folder) && !(secret.wholly && is_below(folder, path))) continue;
            return base::fail("uploads.readable",
                              "Builds of uploaded sources could read " + secret.what +
                                  ", because they read " + folder.string(),
                              secret.path.string(),
                              "move it, or name a smaller folder in `readable` of [uploaded_sources]");
        }
    }
    return {};
}

base::Status check_pythons(const Site& site, const std::map<std::string, base::Result<Python>>& pythons) {
    const auto readable = readable_folders(site);
    for (const auto& [version, python] : pythons) {
        if (!python) continue;
        for (const fs::path& path : {real(python->prefix), real(python->executable)}) {
            const bool is_there = std::any_of(readable.begin(), readable.end(),
                                              [&](const fs::path& folder) { return is_below(path, folder); });
            if (is_there) continue;
            return base::fail("uploads.python", "Builds of uploaded sources cannot read Python " + version,
                              path.string(),
                              "add its folder to `readable` in [uploaded_sources] of site.toml");
        }
    }
    return {};
}

// Such a build needs the configuration, and could send a password in it anywhere.
base::Status check_pip(std::string_view pip_conf) {
    for (const auto line : base::split_lines(pip_conf)) {
        for (const auto word : base::split(line, ' ')) {
            if (word.find("://") == std::string_view::npos || !simple::holds_credentials(word)) continue;
            return base::fail(
                "uploads.password",
                "pip's configuration has a password, which builds of uploaded sources could read", {},
                "let the agent's pip use an index, and a proxy, without a password");
        }
    }
    return {};
}

}  // namespace

const std::vector<fs::path>& system_folders() {
    static const std::vector<fs::path> folders{"/usr",   "/bin",   "/sbin",   "/lib",
                                               "/lib32", "/lib64", "/libx32", "/etc"};
    return folders;
}

base::Status check_separation(const Site& site, const std::map<std::string, base::Result<Python>>& pythons,
                              std::string_view pip_conf, const EnvironmentMap& environment, uid_t user) {
    if (!site.uploaded_sources)
        return base::fail("uploads.not_separate",
                          "The site file does not say how uploaded sources are separated from the agent",
                          site.name, "add [uploaded_sources] to site.toml");
    WHEELYARD_TRY(check_user(user));
    WHEELYARD_TRY(check_programs(site));
    WHEELYARD_TRY(check_folders(site, environment));
    WHEELYARD_TRY(check_pythons(site, pythons));
    return check_pip(pip_conf);
}

}  // namespace wheelyard::builder
