// The home of a build: a folder of its tree, so that no tool of it writes into the user's home, nor finds there what another
// build left (`build.home`). Pure.
#pragma once

#include <string>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// Runs after modules are loaded and variables are exported, which see the user's home. A variable that the site or the
// recipe names keeps its value. Empty for a job that builds nothing.
[[nodiscard]] std::string render_build_home(const ScriptInput& input);

}  // namespace wheelyard::builder
