// The parts of the build script and the values that fill them.
#include "builder/script/script.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "builder/script/script_frame.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {

namespace {

constexpr int fence_wait_s = 120;  // for a job that its scheduler lost to leave the build tree

}  // namespace

namespace templates {  // templates/NAME

extern const std::string_view venv;
extern const std::string_view used_by;
extern const std::string_view requirements;

// Removes objects that were being written when the job was cut off. A killed compiler leaves half an object,
// which make takes for a complete one; an assembler that waits for its compiler leaves an empty object of any
// age. Ninja logs an object after its compiler has ended, and compiles again what it has not logged: what it
// logged stays, so that a cut costs only the running compiles.
extern const std::string_view resume;

}  // namespace templates

namespace {

using base::quote_shell;

// The lock of a closure has them already, but where the node differs from the login node.
constexpr std::string_view install_unless_blank = "! grep -q . \"$folder/requires.txt\" || ";
constexpr std::string_view install_asked = "pip_install --requirement \"$folder/requires.txt\"\n";

// Turns off ccache, and sccache's reading. https://ccache.dev/manual/latest.html#_configuration_options
const Environment without_caches = {{"CCACHE_DISABLE", "1"}, {"SCCACHE_RECACHE", "1"}};

// The governor sets MAX_JOBS and similar itself, so that compiles wait in the governor and not in the build
// tool.
std::string render_governor(const ScriptInput& input) {
    if (input.governor.empty()) return "";
    std::string text = "# Starts each compile when there is memory for it (docs/explanation/governor.md).\n";
    text += quote_shell(input.governor.string()) + " --cores " + std::to_string(input.site.cores);
    if (input.attempt.job.memory_mib > 0)
        text += " --memory " + std::to_string(input.attempt.job.memory_mib) + "M";
    text += " --history " + quote_shell((input.site.state_directory / "governor-history").string());
    text += " \\\n    --json \"$folder/governor.json\" -- \\\n    ";
    return text;
}

std::string render_resume(const ScriptInput& input) {
    if (input.attempt.job.builds_in.empty()) return "";
    return fill(templates::resume, {{"attempt", input.attempt.job.builds_in}});
}

Fields fields_of(const ScriptInput& input) {
    const bool own = input.attempt.job.builds_in.empty();
    const Fields of_fence = {{"fence_wait_s", std::to_string(fence_wait_s)},
                             {"fence_phase", std::string(fence_phase)},
                             {"fence_exit", std::to_string(fence_exit_code)}};
    Fields fields = frame_fields(input);
    fields.insert(fields.end(), of_fence.begin(), of_fence.end());
    const Fields of_build = {
        {"stale", own ? "\"$build/venv\" " : ""},
        {"home", render_build_home(input)},
        {"resume", render_resume(input)},
        {"new_environment",
         input.attempt.asked.closure ? render_new_environment(input.site, input.attempt.asked.python) : ""},
        {"venv", environment_command(input)},
        {"used_by", input.folder.build_root.empty() ? "" : fill(templates::used_by, of_fence)},
        {"source", quote_shell(input.attempt.source.folder)}};
    fields.insert(fields.end(), of_build.begin(), of_build.end());
    return fields;
}

}  // namespace

bool needs_metadata_step(const ScriptInput& input) {
    if (input.recipe.source == SourceKind::upstream) return false;  // it was built elsewhere
    const Asked& asked = input.attempt.asked;
    return !asked.against.empty() || asked.build > 0 || asked.version.find('+') != std::string::npos;
}

std::string render_script(const ScriptInput& input) {
    const Fields fields = fields_of(input);
    const Accelerator* accelerator = input.site.accelerator(input.attempt.asked.accelerator);
    const Placeholders values =
        placeholders_of({input.site, input.attempt.asked.version, input.attempt.asked.against,
                         input.attempt.asked.accelerator, input.recipe.promises});
    std::string text = render_frame(input, fields);
    text += render_setup(input.site, input.site.python(input.attempt.asked.python), accelerator, "begin");
    if (input.governor.empty()) {
        const std::string cores = std::to_string(input.site.cores);
        text += render_environment({{"MAX_JOBS", cores}, {"CMAKE_BUILD_PARALLEL_LEVEL", cores}},
                                   "One compiler per core of the job.");
    }
    const bool builds = input.recipe.source != SourceKind::upstream;
    text += render_exports(exports_of_job(
        input.site, accelerator, own_environment(input.recipe, input.attempt.asked.purpose), values));
    if (input.attempt.asked.purpose == Purpose::reproduction)
        text += render_environment(without_caches, "Every compile runs, whatever a cache has.");
    text += fill(templates::venv, fields);
    if (builds) {
        text += fill(templates::requirements, fields) + render_lock(input, "pip_install --no-compile") +
                render_hashed_install(input) + render_install(input, requirements_command(input));
        if (asks_back_end(input)) {
            text += render_asking(input);
            if (input.attempt.asked.closure) text += install_unless_blank;
            text += install_asked;
        }
        text += render_compiler_cache(input);
        text += render_tree_steps(input, values);
    } else {
        text += render_upstream_steps(input, values);
    }
    text += render_build_step(input, render_governor(input));
    text += render_metadata_step(input);
    text += render_smoke_step(input, values);
    text += "begin done\n";
    return text;
}

EnvironmentMap job_environment(const EnvironmentMap& agent) {
    static constexpr std::array<std::string_view, 19> allowed = {
        "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER",
        // network settings of programs other than pip
        "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE", "http_proxy", "https_proxy",
        "no_proxy", "HTTP_PROXY", "HTTPS_PROXY"};
    EnvironmentMap job;
    for (const auto& [name, value] : agent) {
        const bool is_proxy = base::ascii_lower(name).ends_with("_proxy") && name != "no_proxy";
        if (is_proxy && simple::holds_credentials(value))
            continue;  // it holds a password; pip gets the proxy from pip.conf
        if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) job.emplace(name, value);
    }
    return job;
}

namespace {

constexpr std::size_t max_build_key_bytes = 128;

}  // namespace

std::string build_key(const Site& site, const Recipe& recipe, const std::filesystem::path& python,
                      const std::vector<std::string>& constraints) {
    std::string text;
    const auto add = [&text](std::string_view part) { text.append(part).append(1, '\0'); };
    const auto add_all = [&add](std::string_view name, const std::vector<std::string>& list) {
        add(name);
        for (const std::string& item : list)
            add(item);
    };
    const auto add_environment = [&add](const Environment& environment) {
        add("environment");
        for (const auto& [name, value] : environment) {
            add(name);
            add(value);
        }
    };
    add(python.native());
    add_environment(site.environment);
    add_environment(recipe.build_environment);
    add_all("requires", recipe.build_requires);
    add_all("constraints", constraints);
    add_all("before", recipe.before);
    add_all("configure", recipe.configure);
    add_all("front end", {recipe.front_end});
    for (const auto& beside : recipe.beside)
        add_all("beside", {beside.name, beside.url, beside.tag, beside.sha256});
    for (const auto& patches : recipe.patches) {
        if (!patches.series.empty()) add_all("series", {patches.series});
    }
    add_all("home", {home_of(site, recipe) == BuildHome::own ? "own" : "user"});
    add_all("modules", site.modules.load);
    add_all("module command", {site.modules.init, site.modules.purge ? "purge" : ""});
    add_all("folders of modules", site.modules.use);
    add_environment(site.modules.environment);
    for (const auto& choice : site.pythons)
        add_all(choice.version, choice.modules);
    for (const auto& accelerator : site.accelerators) {
        add_all(accelerator.name, accelerator.modules);
        add_all("architectures", accelerator.architectures);
        add_environment(accelerator.environment);
    }
    add_all("compilers",
            {site.compilers.c, site.compilers.cxx, site.compilers.fortran, site.compilers.mpi_c});
    return base::sha256_hex(text);
}

bool is_built_by(const AttemptFolder& folder, const std::string& key) {
    const auto there = base::read_untrusted_file(folder.build_key(), max_build_key_bytes);
    return there && base::trim(*there) == key;
}

bool is_tree_ready(const AttemptFolder& folder) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::symlink_status(folder.build() / tree_ready_file, error));
}

}  // namespace wheelyard::builder
