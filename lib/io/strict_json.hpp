// JSON that somebody signed: two readers must not see two documents in it, so a member that comes twice is an error.
#pragma once

#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::io {

// parse_json() with the further error "json.twice".
[[nodiscard]] base::Result<Json> parse_strict_json(std::string_view text, const JsonLimits& limits);

}  // namespace wheelyard::io
