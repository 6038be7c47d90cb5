// A wheelhouse for a job on a machine that reaches no index: everything that it installs, as wheels, gathered
// on the login node before. Pure.
#pragma once

#include <string>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// What the login node runs to fill FOLDER/wheelhouse: whatever the kind of source, what the build installs
// and what its wheel asks for in the smoke test. What an index has only as an sdist becomes a wheel there.
[[nodiscard]] std::string render_wheelhouse_script(const ScriptInput& input);

}  // namespace wheelyard::builder
