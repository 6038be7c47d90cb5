// Makes untrusted text (from a registry, a compiler, an archive) safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// Replaces control characters (C0, DEL, C1) with "?"; keeps line feeds and tabs.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace wheelyard::base
