// How many columns of a terminal a text takes.
#pragma once

#include <cstddef>
#include <string_view>

namespace wheelyard::avail_wheels {

// UTF-8; East Asian wide and fullwidth characters and emoji take two columns, combining marks and zero-width
// characters none (Unicode's EastAsianWidth and General_Category, as wcwidth has them). What is no UTF-8
// counts one a byte.
[[nodiscard]] std::size_t display_width(std::string_view text);

}  // namespace wheelyard::avail_wheels
