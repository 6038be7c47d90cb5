#include "lib/base/text/assigned_text.hpp"

#include "lib/base/text/text.hpp"

namespace wheelyard::base {

std::string assigned_text(std::string_view source, std::string_view name) {
    for (const auto line : split_lines(source)) {
        const auto equals = line.find('=');
        if (!line.starts_with(name) || equals == std::string_view::npos) continue;
        const auto after = line.substr(name.size(), 1);
        if (after != " " && after != ":" && after != "=") continue;
        const auto value = trim(line.substr(equals + 1));
        const auto close = value.empty() ? std::string_view::npos : value.find(value.front(), 1);
        const bool is_text = !value.empty() && (value.front() == '\'' || value.front() == '"');
        if (is_text && close != std::string_view::npos) return std::string(value.substr(1, close - 1));
    }
    return {};
}

}  // namespace wheelyard::base
