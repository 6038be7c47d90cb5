// Project names (PEP 503, PEP 508) and their escaped form in file names (PEP 427, binary distribution
// format).
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::wheel {

// PEP 508: begins and ends with a letter or digit; `-`, `_`, `.` between.
[[nodiscard]] bool is_valid_name(std::string_view name);
// PEP 503: runs of `-_.` become one `-`, lower case: "Foo__Bar.baz" → "foo-bar-baz".
[[nodiscard]] std::string normalize_name(std::string_view name);
// The normalised name with `_` in place of `-`, as in wheel file names: "foo_bar_baz".
[[nodiscard]] std::string escape_name(std::string_view name);

}  // namespace wheelyard::wheel
