// Makes text that came from elsewhere (from a registry, a compiler, an archive) safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// Whether this character controls a terminal: C0, DEL, C1, and those that change the direction or the order of the text
// around them.
[[nodiscard]] bool is_control(char32_t code);

// Replaces with "?": such characters but line feeds and tabs, and each byte that is not UTF-8, which may be a C1 control of
// Latin-1.
[[nodiscard]] std::string printable(std::string_view text);
// The same as one line: line feeds and tabs become spaces, so that no field looks like the next line.
[[nodiscard]] std::string printable_line(std::string_view text);
// Whether printable_line() changes nothing.
[[nodiscard]] bool is_printable_line(std::string_view text);

}  // namespace wheelyard::base
