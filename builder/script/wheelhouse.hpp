// A wheelhouse (a folder of wheels) for a job without network access: the login node fetches everything that
// the job installs. Pure.
#pragma once

#include <string>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// The login-node script that fills FOLDER/wheelhouse with the build requirements and the requirements of the
// smoke test, for every kind of source. A package that the index has only as an sdist is built into a wheel
// there.
[[nodiscard]] std::string render_wheelhouse_script(const ScriptInput& input);

}  // namespace wheelyard::builder
