// Dates of HTTP's header fields; clock.hpp renders them.
#pragma once

#include <optional>
#include <string_view>

#include "lib/base/clock.hpp"

namespace wheelyard::base {

// Parses "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 §5.6.7, IMF-fixdate); nullopt for other forms.
[[nodiscard]] std::optional<UnixMicros> parse_http_date(std::string_view text);

}  // namespace wheelyard::base
