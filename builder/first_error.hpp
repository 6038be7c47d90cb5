// The first line of a build log that looks like the cause: compilers report it first, and everything after is
// its echo. Pure.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::builder {

// Shortened to longest_error_line; empty when no line looks like an error. Only lines after the marker of
// `phase` count (all of them when it is empty or has no marker).
[[nodiscard]] std::string find_first_error(std::string_view log, std::string_view phase);

}  // namespace wheelyard::builder
