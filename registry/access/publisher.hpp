// Names of the tokens that jobs of continuous integration get for an identity token: publisher:NAME, of a [[publisher]]
// table. No other token may have such a name (token_rules.hpp).
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::registry {

inline constexpr std::string_view publisher_prefix = "publisher:";

[[nodiscard]] inline std::string publisher_name(std::string_view table) {
    return std::string(publisher_prefix).append(table);
}
[[nodiscard]] inline bool is_publisher(std::string_view name) {
    return name.starts_with(publisher_prefix);
}
// The name of the table of such a name.
[[nodiscard]] inline std::string_view publisher_of(std::string_view name) {
    return name.substr(publisher_prefix.size());
}

}  // namespace wheelyard::registry
