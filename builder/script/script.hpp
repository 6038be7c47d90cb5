// The script of one build job: readable bash that a person can also run by hand. Pure; golden-tested
// (tests/golden/builder).
//
//     claim ─► modules ─► conda ─► venv ─► requirements ─► patch ─► before ─► configure ─► build ─► metadata
//     ─► smoke ─► exit record
//
// The site and the recipe determine which of these steps are present.
//
// An attempt runs at most once: its script starts with mkdir of claim/, which succeeds for one process only.
// The script writes an exit record however it ends.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/environment.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/site/python.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

struct ScriptInput {
    const Site& site;
    const Recipe& recipe;
    const Attempt& attempt;  // precondition: in state fetched
    std::filesystem::path python;
    AttemptFolder folder;
    std::filesystem::path governor = {};  // path of the program; empty: the build runs without the governor
    std::vector<std::string> hashed_files = {};  // requirements files with hashes (script_frame.hpp)
    std::vector<std::string> indexes = {};       // upstream_indexes(): pip searches them, too
};

[[nodiscard]] std::string render_script(const ScriptInput& input);

// Says whether the metadata of the built wheel must be edited: to add the site's label, or to pin what it was
// built against.
[[nodiscard]] bool needs_metadata_step(const ScriptInput& input);

// The agent's variables that a job may see: those needed to find programs and packages. A build runs other
// people's code, so nothing that could hold a secret is passed on.
[[nodiscard]] EnvironmentMap job_environment(const EnvironmentMap& agent);

// Identifies the settings of a build tree: an interrupted build resumes only with the same settings.

// A hash of everything except the source that affects the objects: environments, build requirements and their
// bounds (`constraints`, of constraints_for()), steps, repositories beside the source, modules, compilers,
// GPUs, interpreter. Pure.
[[nodiscard]] std::string build_key(const Site& site, const Recipe& recipe,
                                    const std::filesystem::path& python,
                                    const std::vector<std::string>& constraints);

// Says whether the attempt of this folder built with this key; false without a key.
[[nodiscard]] bool is_built_by(const AttemptFolder& folder, const std::string& key);

// A file beside the tree: its patches and `build.before` are done. A tree without it, as of a job that was
// cut before, cannot be continued: they may be half done, and a job that continues leaves them out.
inline constexpr std::string_view tree_ready_file = "tree_ready";
[[nodiscard]] bool is_tree_ready(const AttemptFolder& folder);

}  // namespace wheelyard::builder
