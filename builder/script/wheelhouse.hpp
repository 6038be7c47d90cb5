// A wheelhouse (a folder of wheels) for a job without network access: the login node fetches everything that
// the job installs. Pure.
//
// An uploaded source has one of its own: its code may say what its build installs, and may not reach the
// network; so two kinds of namespaces take turns on the login node.
//
//     fetch.sh   network, none of the source's code     fetch/wheelhouse/ ◄─ the index: wheels only
//     ask.sh     the source's code, no network          separate/requires.txt, separate/needs.txt
//
// A requirement is a name with versions: an address would make pip connect to it, an sdist would run its
// code.
#pragma once

#include <string>
#include <string_view>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// The login-node script that fills FOLDER/wheelhouse with the build requirements and the requirements of the
// smoke test, for every kind of source. A package that the index has only as an sdist is built into a wheel
// there.
[[nodiscard]] std::string render_wheelhouse_script(const ScriptInput& input);

inline constexpr std::string_view ask_script = "ask.sh";                       // in separate/
inline constexpr std::string_view build_requires_file = "build-requires.txt";  // in fetch/

// `input.folder` as the job sees it.
[[nodiscard]] std::string render_fetch_script(const ScriptInput& input);
[[nodiscard]] std::string render_build_requires(const ScriptInput& input);  // the project's, one a line
[[nodiscard]] std::string render_ask_script(const ScriptInput& input);
// The login-node script that runs them.
[[nodiscard]] std::string render_separate_wheelhouse(const ScriptInput& input);

}  // namespace wheelyard::builder
