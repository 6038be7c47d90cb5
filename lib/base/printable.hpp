// Text from outside (a registry, a compiler, an archive) as a terminal may show it.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// Control characters (C0, DEL, C1) become "?"; line feeds and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace wheelyard::base
