// The query of an API's address: "after=14&index=main".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::registry {

// The first value of this name, decoded; nullopt: there is none that can be decoded.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace wheelyard::registry
