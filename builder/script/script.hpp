// The build script of one attempt: readable bash that a person could have written and can run by hand. Pure;
// golden-tested (tests/golden/builder).
//
//     claim ─► modules ─► conda ─► venv ─► requirements ─► patch ─► before ─► configure ─► build ─► metadata
//     ─► smoke ─► exit record
//
// The site and the recipe say which of them there are.
//
// Two starts of one attempt cannot both run (mkdir of claim/ has one winner), and however it ends, the exit
// record says so.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/site/environment.hpp"
#include "builder/site/python.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

struct ScriptInput {
    const Site& site;
    const Recipe& recipe;
    const Attempt& attempt;  // in state fetched
    std::filesystem::path python;
    AttemptFolder folder;
    std::filesystem::path governor = {};  // the program; empty: the build runs without it
    std::vector<std::string> hashed_files =
        {};  // of the recipe's requirements files (hashed_requirements.hpp)
};

[[nodiscard]] std::string render_script(const ScriptInput& input);

// Whether the built wheel's metadata has to be completed: by the site's label, or by what it was built
// against.
[[nodiscard]] bool needs_metadata_step(const ScriptInput& input);

// What of the agent's environment a job may see: how to find programs and packages, and no more. A build runs
// other people's code, so nothing that could be a secret passes.
[[nodiscard]] EnvironmentMap job_environment(const EnvironmentMap& agent);

}  // namespace wheelyard::builder
