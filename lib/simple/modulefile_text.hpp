// Texts as modulefiles quote them: Lmod's are Lua, Environment Modules' are Tcl.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::simple {

// `text` between double quotes, a backslash before each character of `escaped`.
[[nodiscard]] std::string in_quotes(std::string_view text, std::string_view escaped);
[[nodiscard]] std::string quote_lua(std::string_view text);
[[nodiscard]] std::string quote_tcl(std::string_view text);

}  // namespace wheelyard::simple
