// The query string of an API request: "after=14&index=main".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::registry {

// The first value of `name`, percent-decoded; nullopt if the name is missing or its value cannot be decoded.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace wheelyard::registry
