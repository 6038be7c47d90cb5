// The number of terminal columns of a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace wheelyard::avail_wheels {

// For UTF-8: East Asian wide and fullwidth characters and emoji take two columns, combining marks and
// zero-width characters none (Unicode's EastAsianWidth and General_Category, as in wcwidth). Each byte of
// invalid UTF-8 counts as one.
[[nodiscard]] std::size_t display_width(std::string_view text);

}  // namespace wheelyard::avail_wheels
