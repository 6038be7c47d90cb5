// Byte ranges and conditional requests (RFC 9110 §13 and §14). No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lib/base/clock.hpp"

namespace wheelyard::http {

enum class RangeKind { whole, part, unsatisfiable };

struct RangeChoice {
    RangeKind kind = RangeKind::whole;
    std::uint64_t offset = 0;  // first byte of a part
    std::uint64_t length = 0;
    bool operator==(const RangeChoice&) const = default;
};

// Serves a single range; several ranges, another unit or a malformed value get the whole file (RFC 9110 §14.2
// permits both).
[[nodiscard]] RangeChoice choose_range(std::string_view range, std::uint64_t size);

// If-Range: whether the Range applies. `etag` is the file's, quoted and strong; a date must equal
// `last_modified` exactly.
[[nodiscard]] bool range_still_valid(std::string_view if_range, std::string_view etag,
                                     std::string_view last_modified);

// If-None-Match: whether the list of entity tags contains `etag` (weak comparison) or is "*".
[[nodiscard]] bool names_etag(std::string_view if_none_match, std::string_view etag);

// Says whether to answer 304. If-Modified-Since (whole seconds) counts only without If-None-Match. Empty:
// absent.
[[nodiscard]] bool not_modified(std::string_view if_none_match, std::string_view if_modified_since,
                                std::string_view etag, base::UnixMicros last_modified);

}  // namespace wheelyard::http
