// Quoting for modulefiles: Lua for Lmod, Tcl for Environment Modules.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::simple {

// `text` in double quotes, with a backslash before each character in `escaped`.
[[nodiscard]] std::string in_quotes(std::string_view text, std::string_view escaped);
[[nodiscard]] std::string quote_lua(std::string_view text);
[[nodiscard]] std::string quote_tcl(std::string_view text);

}  // namespace wheelyard::simple
