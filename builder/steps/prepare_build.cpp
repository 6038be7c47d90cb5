// fetched ─► prepared: the tree unpacked, the script written.
#include <string>

#include "builder/attempt/temporary_files.hpp"
#include "builder/plan/request.hpp"
#include "builder/plan/version_choice.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/script/job_inputs.hpp"
#include "builder/script/script.hpp"
#include "builder/script/script_frame.hpp"
#include "builder/script/separate_script.hpp"
#include "builder/script/wheelhouse.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/sources/login_step.hpp"
#include "builder/steps/ports.hpp"
#include "builder/steps/provenance.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

// The step on the login node that downloads what a job installs, for sites whose jobs cannot reach an index.

// Error of kind in_progress: the step runs; a later call finds its end.
base::Status fill_wheelhouse(const Attempt& attempt, const Ports& ports, std::string script) {
    const AttemptFolder folder = ports.folder_of(attempt);
    LoginStep step{folder.root,
                   std::string(wheelhouse_step),
                   std::move(script),
                   job_environment(ports.environment),
                   "fetching what " + attempt.asked.cell + " installs",
                   ports.site.login_minutes * 60};
    step.follows_script = true;
    step.rules = ports.site.doctor_rules;
    step.checks = 1;  // it makes an environment and downloads packages: no tick is as patient
    return advance_login_step(step, ports.clock);
}

// An uploaded source has its own way: its code runs without a network, and what it asks for is fetched beside
// it.
base::Status fill_separate_wheelhouse(const ScriptInput& input, const Ports& ports) {
    const AttemptFolder folder = ports.folder_of(input.attempt);
    WHEELYARD_TRY(base::replace_file(folder.fetch() / fetch_script, render_fetch_script(input)));
    WHEELYARD_TRY(base::replace_file(folder.fetch() / build_requires_file, render_build_requires(input)));
    WHEELYARD_TRY(base::replace_file(folder.inner() / ask_script, render_ask_script(input)));
    return fill_wheelhouse(input.attempt, ports, render_separate_wheelhouse(input));
}

base::Result<std::string> key_of_build(const Attempt& attempt, const Ports& ports, const Recipe& recipe,
                                       const std::filesystem::path& python) {
    WHEELYARD_ASSIGN(const auto patches, find_patches(recipe, attempt.asked.version));
    WHEELYARD_ASSIGN(const auto patched, digest_of_patches(patches));
    const std::string key = build_key(for_gpus(ports.site, recipe, attempt.asked), recipe, python,
                                      constraints_for(ports.site, attempt));
    std::string more = patched + attempt.asked.against;
    for (const auto& [filename, digest] : attempt.asked.closure.value_or(ClosurePart{}).lock)
        more += filename + " " + digest + "\n";
    return more.empty() ? key : base::sha256_hex(key + more);
}

// Why the attempt cannot continue in the tree that it was to continue; empty: it can, or has none.
std::string why_not_continued(const Attempt& attempt, const Ports& ports, const std::string& key) {
    if (attempt.job.builds_in.empty()) return {};
    // If flags, compilers or the interpreter have changed, the old tree would mix two builds into one wheel.
    const AttemptFolder begun{ports.site.work_directory / "attempts" / attempt.job.builds_in};
    if (!is_built_by(begun, key)) return "the build tree was made with other settings";
    if (!is_tree_ready(ports.folder_of(attempt)))
        return "the job before was cut before its patches were applied";
    return {};
}

base::Status unpack_source(Attempt& attempt, Ports& ports, const Recipe& recipe, const std::string& key) {
    if (const std::string why = why_not_continued(attempt, ports, key); !why.empty()) {
        ports.report(attempt, "starts from the beginning: " + why);
        WHEELYARD_TRY(leave_old_tree(attempt, ports));
    }
    const AttemptFolder folder = ports.folder_of(attempt);
    // The tree is already complete if a step on the login node is still running.
    const bool unpacked = !attempt.source.folder.empty() && is_built_by(folder, key);
    // From here on the tree's earlier attempt cannot continue in it.
    WHEELYARD_TRY(base::make_directories(folder.build()));
    WHEELYARD_TRY(base::replace_file(folder.used_by(), attempt.id + "\n"));
    if (attempt.job.builds_in.empty() && !unpacked) {
        WHEELYARD_TRY(base::remove_file(folder.build() / tree_ready_file));
        WHEELYARD_TRY(ports.sources.unpack(recipe, attempt.source, folder.tree(), ports.keep_alive));
    }
    WHEELYARD_TRY(base::replace_file(folder.build_key(), key + "\n"));
    WHEELYARD_TRY(ports.sources.put_beside(recipe, folder.build(), ports.keep_alive));
    WHEELYARD_ASSIGN(const auto patches,
                     find_patches(recipe, attempt.asked.version, folder.build() / "beside"));
    WHEELYARD_TRY(put_patches(patches, folder.inner()));
    ports.failpoints.hit("source.unpacked");
    return {};
}

// Once an uploaded source's code has run, for its wheelhouse, its folder may have links: nothing is written
// through them.
base::Status unpack_once(Attempt& attempt, Ports& ports, const Recipe& recipe, const std::string& key) {
    const AttemptFolder folder = ports.folder_of(attempt);
    std::error_code error;
    const bool has_run = folder.separate &&
                         std::filesystem::exists(folder.root / (std::string(wheelhouse_step) + ".sh"), error);
    if (has_run && !attempt.source.folder.empty()) return {};
    if (has_run) WHEELYARD_TRY(free_space(folder.inner(), ports.keep_alive));
    return unpack_source(attempt, ports, recipe, key);
}

// The site of the script of an attempt's job.
Site site_of_script(const Attempt& attempt, const Ports& ports, const Recipe& recipe) {
    if (!makes_wheel(attempt.asked.purpose)) return ports.site;
    Site sized = sized_for(ports.site, recipe, attempt);
    return ports.folder_of(attempt).separate ? for_namespace(sized) : sized;
}

// `site`: site_of_script(). `project`: the folder of the source; empty: it is not there, and no file of it
// that names hashes is known.
base::Result<ScriptInput> input_of_script(const Attempt& attempt, const Ports& ports, const Recipe& recipe,
                                          const Site& site, const std::filesystem::path& project) {
    WHEELYARD_ASSIGN(const std::filesystem::path python, ports.python_of(attempt));
    const AttemptFolder folder = ports.folder_of(attempt);
    const bool builds = makes_wheel(attempt.asked.purpose);
    const bool governed = builds && recipe.governor && !folder.separate;  // its history is the agent's
    ScriptInput input{site,
                      recipe,
                      attempt,
                      python,
                      builds ? AttemptFolder{folder.root, folder.build_root} : folder,
                      governed ? ports.governor : std::filesystem::path()};
    input.indexes = ports.indexes_of(attempt, recipe);
    if (recipe.source != SourceKind::upstream && !project.empty()) {
        WHEELYARD_ASSIGN(input.hashed_files, find_hashed_files(recipe, project));
    }
    return input;
}

base::Status write_script(const Attempt& attempt, const Ports& ports, const Recipe& recipe) {
    const AttemptFolder folder = ports.folder_of(attempt);
    const Site site = site_of_script(attempt, ports, recipe);
    WHEELYARD_ASSIGN(const ScriptInput input,
                     input_of_script(attempt, ports, recipe, site, folder.tree() / attempt.source.folder));
    if (folder.separate && !input.hashed_files.empty())
        return base::fail("source.requirements",
                          "The requirements files of an uploaded source may not name hashes or files that do",
                          input.hashed_files.front(), "remove it from `requirements_files` in the recipe");
    WHEELYARD_TRY(base::make_directories(folder.pip_conf().parent_path()));
    WHEELYARD_TRY(base::replace_file(folder.pip_conf(), ports.pip_conf, 0600));
    if (attempt.asked.closure)
        WHEELYARD_TRY(base::replace_file(folder.root / "farm.conf", ports.farm_conf, 0600));
    if (folder.separate) {
        WHEELYARD_TRY(fill_separate_wheelhouse(input, ports));
    } else if (site.offline_jobs) {
        WHEELYARD_TRY(fill_wheelhouse(attempt, ports, render_wheelhouse_script(input)));
    }
    WHEELYARD_TRY(base::replace_file(folder.inner_script(), render_script(input), 0755));
    if (folder.separate)
        WHEELYARD_TRY(base::replace_file(folder.script(), render_separate_script(input), 0755));
    ports.failpoints.hit("script.written");
    return {};
}

// What the script has, a line each: modules, variables, build requirements, their bounds, `patches`.
std::string describe_script(const ScriptInput& input, const std::vector<std::filesystem::path>& patches) {
    const Attempt& attempt = input.attempt;
    const Accelerator* accelerator = input.site.accelerator(attempt.asked.accelerator);
    std::string text =
        attempt.asked.cell + ", attempt " + attempt.id + ", in " + input.folder.root.string() + "\n";
    const auto add = [&text](std::string_view name, const std::vector<std::string>& all,
                             std::string_view separator) {
        text += std::string(name) + ": " + (all.empty() ? "none" : base::join(all, separator)) + "\n";
    };
    add("modules", modules_of(input.site, input.site.python(attempt.asked.python), accelerator), " ");
    EnvironmentMap variables;  // a later one overrides
    for (const auto& group :
         exports_of_job(input.site, accelerator, own_environment(input.recipe, attempt.asked.purpose),
                        placeholders_of({input.site, attempt.asked.version, attempt.asked.against,
                                         attempt.asked.accelerator, input.recipe.promises}))) {
        for (const auto& [name, value] : group.variables)
            variables.insert_or_assign(name, value);
    }
    std::vector<std::string> shown;
    for (const auto& [name, value] : without_secrets(variables))
        shown.push_back(name + "=" + base::quote_shell(value));
    add("variables", shown, " ");
    std::vector<std::string> requirements = input.recipe.build_requires;
    const auto& own = attempt.source.build_requires;
    requirements.insert(requirements.end(), own.begin(), own.end());
    if (!attempt.asked.against.empty()) requirements.push_back(attempt.asked.against);
    add("build requirements", requirements, ", ");
    add("bounds", constraints_for(input.site, attempt), ", ");
    std::vector<std::string> files;
    for (const auto& patch : patches)
        files.push_back(patch.string());
    add("patches", files, " ");
    return text;
}

}  // namespace

base::Result<JobText> text_of_job(const Attempt& attempt, const Ports& ports,
                                  const std::filesystem::path& project) {
    const Recipe recipe = ports.recipe_of(attempt);
    const Site site = site_of_script(attempt, ports, recipe);
    WHEELYARD_ASSIGN(const ScriptInput input, input_of_script(attempt, ports, recipe, site, project));
    if (!makes_wheel(attempt.asked.purpose))
        return JobText{render_test_script(input), describe_script(input, {})};
    WHEELYARD_ASSIGN(const auto patches, find_patches(recipe, attempt.asked.version));
    return JobText{render_script(input), describe_script(input, patches)};
}

base::Result<Next> prepare_build(Attempt& attempt, Ports& ports) {
    const Recipe recipe = ports.recipe_of(attempt);
    WHEELYARD_ASSIGN(const std::filesystem::path python, ports.python_of(attempt));
    // The site file may have changed since the task was claimed.
    if (attempt.asked.uploaded)
        WHEELYARD_TRY(
            check_separation(ports.site, ports.pythons, ports.pip_conf, ports.environment, ports.user));
    WHEELYARD_TRY(base::make_directories(ports.folder_of(attempt).root));
    sweep_temporary_files(ports.folder_of(attempt).root);
    WHEELYARD_ASSIGN(const std::string key, key_of_build(attempt, ports, recipe, python));
    auto prepared = unpack_once(attempt, ports, recipe, key);
    if (prepared) prepared = write_script(attempt, ports, recipe);
    // The download is missing by now: it is fetched again.
    if (!prepared && prepared.error().kind == base::ErrorKind::missing)
        return Retreat{State::planned, prepared.error()};
    WHEELYARD_TRY(prepared);
    return Move{State::prepared};
}

// planned ─► prepared, for a test of a published wheel: its script written.
base::Result<Next> prepare_test(Attempt& attempt, Ports& ports) {
    const Recipe recipe = ports.recipe_of(attempt);
    if (hardware_test_of(recipe, attempt.asked.purpose).command.empty())
        return base::fail("test.gone", "The recipe no longer has this test", recipe.file.string());
    const AttemptFolder folder = ports.folder_of(attempt);
    WHEELYARD_TRY(base::make_directories(folder.root));
    sweep_temporary_files(folder.root);
    WHEELYARD_ASSIGN(const ScriptInput input, input_of_script(attempt, ports, recipe, ports.site, {}));
    WHEELYARD_TRY(base::replace_file(folder.pip_conf(), ports.pip_conf, 0600));
    if (ports.site.offline_jobs)
        WHEELYARD_TRY(fill_wheelhouse(attempt, ports, render_test_wheelhouse_script(input)));
    WHEELYARD_TRY(base::replace_file(folder.script(), render_test_script(input), 0755));
    ports.failpoints.hit("script.written");
    return Move{State::prepared};
}

}  // namespace wheelyard::builder
