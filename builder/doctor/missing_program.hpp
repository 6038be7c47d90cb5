// Recognises the many ways in which shells, make, Python, Rust and meson say that a program is not there.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::builder {

// The program's name without folder: "bash: line 3: cmake: command not found", "/bin/sh: 1: cmake: not found" and
// "error: command '/opt/bin/cmake' failed: No such file or directory" give "cmake". Empty: the line (in lower case)
// says something else.
[[nodiscard]] std::string missing_program(std::string_view lower);

}  // namespace wheelyard::builder
