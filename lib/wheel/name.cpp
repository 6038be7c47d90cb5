#include "lib/wheel/name.hpp"

#include "lib/base/text/text.hpp"

namespace wheelyard::wheel {
namespace {

bool is_separator(char c) {
    return c == '-' || c == '_' || c == '.';
}

// Lower-cases the name and replaces every run of separators with one `separator`.
std::string with_separator(std::string_view name, char separator) {
    std::string normal;
    normal.reserve(name.size());
    bool in_run = false;
    for (const char c : name) {
        if (is_separator(c)) {
            if (!in_run) normal += separator;
            in_run = true;
        } else {
            normal += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            in_run = false;
        }
    }
    return normal;
}

}  // namespace

bool is_valid_name(std::string_view name) {
    if (name.empty() || is_separator(name.front()) || is_separator(name.back())) return false;
    for (const char c : name) {
        if (!base::is_ascii_alnum(c) && !is_separator(c)) return false;
    }
    return true;
}

std::string normalize_name(std::string_view name) {
    return with_separator(name, '-');
}
std::string escape_name(std::string_view name) {
    return with_separator(name, '_');
}

}  // namespace wheelyard::wheel
