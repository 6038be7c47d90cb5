#include "lib/simple/modulefile_text.hpp"

namespace wheelyard::simple {

std::string in_quotes(std::string_view text, std::string_view escaped) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (escaped.find(c) != std::string_view::npos) quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}

std::string quote_lua(std::string_view text) {
    return in_quotes(text, "\\\"");
}

std::string quote_tcl(std::string_view text) {
    return in_quotes(text, "\\\"$[]{};");
}

}  // namespace wheelyard::simple
