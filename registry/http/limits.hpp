// Limits of registry/http/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::http {

// Requests.
// Pip sends under 1 KiB; tokens stay under 4.
inline constexpr std::size_t max_request_head_bytes = 16 * base::kib;

// Index, sha256, a 255-byte name, all percent-encoded.
inline constexpr std::size_t max_target_bytes = 4 * base::kib;
inline constexpr std::size_t max_segment_bytes = 255;  // NAME_MAX of Linux file systems
inline constexpr std::size_t max_segments = 8;
inline constexpr std::size_t max_accept_ranges = 64;  // of one Accept header; browsers send up to 10
inline constexpr std::size_t max_chunk_line_bytes = 1 * base::kib;  // extensions of one chunk
inline constexpr std::size_t max_trailer_bytes = 8 * base::kib;     // of a chunked body: read and dropped
inline constexpr std::int64_t retry_after_s = 5;                    // said with every 503
inline constexpr std::int64_t redirect_max_age_s = 60;  // how long a client may remember a name's normal form

}  // namespace wheelyard::http
