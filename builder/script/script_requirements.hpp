// The build requirements of a project and the requirements of its wheel: those known from files, and those
// that the project's back end reports. Pure.
#pragma once

#include <string>
#include <string_view>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// Whether the project's back end is queried for further build requirements (PEP 517). With `setup.py` it is
// not.
[[nodiscard]] bool asks_back_end(const ScriptInput& input);

// What installs the requirements of a build: as in PEP 517's isolation the newest that is allowed, whatever the venv came
// with (Python 3.11 of Debian 12 brings setuptools 66).
[[nodiscard]] std::string requirements_command(const ScriptInput& input);

// `command` with the build requirements of the recipe and of pyproject.toml, except files with hashes. Empty
// where there are none, because pip rejects an empty install.
[[nodiscard]] std::string render_install(const ScriptInput& input, std::string_view command);

// Writes the back end's further build requirements to $folder/requires.txt. Runs in the project's folder.
// Of a closure's cell: installs its build environment by hash, with this command. Empty: it has none.
[[nodiscard]] std::string render_lock(const ScriptInput& input, std::string_view command);
[[nodiscard]] std::string render_asking(const ScriptInput& input);

// Writes the requirements of the wheel to $folder/needs.txt, except the package that it is built against.
// Runs in the project's folder. Requirements that are unknown before the build are left out, with a note in
// the log.
[[nodiscard]] std::string render_needs(const ScriptInput& input);

}  // namespace wheelyard::builder
