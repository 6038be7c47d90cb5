// What a build installs before anything of the project runs, what the project is asked about that, and what
// its wheel will ask for later. Pure.
#pragma once

#include <string>
#include <string_view>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// Whether the project's back end is asked for more (PEP 517); `setup.py` by itself is not.
[[nodiscard]] bool asks_back_end(const ScriptInput& input);

// `command` with what the recipe and the project ask for by themselves, but for files with hashes. Empty for
// nothing: pip refuses an install of nothing.
[[nodiscard]] std::string render_install(const ScriptInput& input, std::string_view command);

// Writes what the back end asks for besides to $folder/requires.txt; in the project's folder.
[[nodiscard]] std::string render_asking(const ScriptInput& input);

// Writes what the finished wheel will ask for to $folder/needs.txt, without what it is built against; in the
// project's folder. What cannot be known before the build is left out, and the log says so.
[[nodiscard]] std::string render_needs(const ScriptInput& input);

}  // namespace wheelyard::builder
