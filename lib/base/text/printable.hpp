// Makes untrusted text (from a registry, a compiler, an archive) safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// Replaces with "?": control characters (C0, DEL; C1 in UTF-8 and in Latin-1) and those that change the direction of
// text (bidi). Keeps line feeds, tabs and other bytes that are not UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace wheelyard::base
