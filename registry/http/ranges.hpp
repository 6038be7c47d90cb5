// Which bytes a client gets, and whether it has them already (RFC 9110 §13 and §14). No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/clock.hpp"

namespace wheelyard::http {

enum class RangeKind { whole, part, unsatisfiable };

struct RangeChoice {
    RangeKind kind = RangeKind::whole;
    std::uint64_t offset = 0;  // of a part
    std::uint64_t length = 0;
    bool operator==(const RangeChoice&) const = default;
};

// One range is served as such; several, another unit or a malformed value get the whole (RFC 9110 §14.2
// allows both).
[[nodiscard]] RangeChoice choose_range(std::string_view range, std::uint64_t size);

// If-Range: may the Range be honoured? `etag` is ours, quoted and strong; a date must be the very one we
// sent.
[[nodiscard]] bool range_still_valid(std::string_view if_range, std::string_view etag,
                                     std::string_view last_modified);

// If-None-Match: a list of entity tags or "*", compared weakly.
[[nodiscard]] bool names_etag(std::string_view if_none_match, std::string_view etag);

// 304? If-None-Match decides when present; If-Modified-Since (whole seconds) only without it. Empty: absent.
[[nodiscard]] bool not_modified(std::string_view if_none_match, std::string_view if_modified_since,
                                std::string_view etag, base::UnixMicros last_modified);

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 §5.6.7, the one form that clients send); others are nullopt.
[[nodiscard]] std::optional<base::UnixMicros> parse_http_date(std::string_view text);

}  // namespace wheelyard::http
