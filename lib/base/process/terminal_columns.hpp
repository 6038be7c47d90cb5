// What a terminal can show: its width, and whether it wants colours.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace wheelyard::base {

// The width of a terminal that does not report its own.
inline constexpr std::size_t default_columns = 80;

// The width of the terminal behind the descriptor; 0: it is none, so lines have no limit.
[[nodiscard]] std::size_t terminal_columns(int descriptor);
// At which a help text that goes to the descriptor is broken: the terminal's width, up to `most`; `most` where it is none.
[[nodiscard]] std::size_t help_columns_of(int descriptor, std::size_t most);
// https://no-color.org: not where NO_COLOR is set and not empty, nor on a terminal without colours (TERM=dumb).
[[nodiscard]] bool allows_colour(const std::map<std::string, std::string>& environment);

}  // namespace wheelyard::base
