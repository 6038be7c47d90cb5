// How long an upstream's page may be used without asking again (RFC 9111). Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::registry {

// From Cache-Control (s-maxage, max-age, no-cache, no-store) and Age, between min_fresh_s and max_fresh_s.
[[nodiscard]] std::int64_t fresh_seconds(const io::HttpAnswer& answer);

// How long to send no request, from Retry-After of a 429 or 503: seconds, or a date beside a Date; other
// forms get the default.
[[nodiscard]] std::int64_t retry_after_seconds(const io::HttpAnswer& answer);
// The same if the answer asks for such a pause, by a 429 or by Retry-After of a 503; else 0.
[[nodiscard]] std::int64_t asked_pause_s(const io::HttpAnswer& answer);

}  // namespace wheelyard::registry
