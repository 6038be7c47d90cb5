// How much the HTTP layer takes and how long it waits, with the reason for each number. Timeouts that a site
// may set are in server.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::http {

// Requests.
inline constexpr std::size_t max_request_head_bytes =
    16 * base::kib;  // pip sends under 1 KiB; tokens stay under 4
inline constexpr std::size_t max_target_bytes =
    4 * base::kib;                                     // index, sha256, a 255-byte name, all percent-encoded
inline constexpr std::size_t max_segment_bytes = 255;  // NAME_MAX of Linux file systems
inline constexpr std::size_t max_segments = 8;
inline constexpr std::size_t max_accept_ranges = 64;  // of one Accept header; browsers send up to 10
inline constexpr std::size_t max_chunk_line_bytes = 1 * base::kib;  // extensions of one chunk
inline constexpr std::size_t max_trailer_bytes = 8 * base::kib;     // of a chunked body: read and dropped

// The API.
inline constexpr std::size_t max_api_body_bytes = 64 * base::kib;  // a reason, a list of names: never a file
inline constexpr std::size_t max_api_requests = 64;                // at once, waiting for the pool included

// Bodies in flight.
inline constexpr std::size_t upload_buffer_bytes =
    1 * base::mib;  // two an upload: one is filled, one is written
inline constexpr std::size_t sendfile_turn_bytes =
    512 * base::kib;                          // then others get a turn: pages' p99 stays in single ms
inline constexpr int requests_per_turn = 16;  // pipelined on one connection, likewise
inline constexpr std::uint64_t slowest_body_bytes_per_s =
    1 * base::kib;  // over stall_timeout: slower than any modem
inline constexpr std::uint64_t max_lingering_bytes =
    256 * base::mib;  // of a refused body, read so that the client sees why
inline constexpr std::int64_t max_lingering_ms = 30'000;
inline constexpr std::int64_t quiet_lingering_ms = 2'000;  // no byte for this long ends it earlier
inline constexpr std::int64_t retry_after_s = 5;           // said with every 503
inline constexpr std::size_t max_refusals_at_once = 64;    // connections past the cap that still hear a 503
inline constexpr std::int64_t accept_pause_ms = 100;  // after accept(2) failed: out of descriptors or memory

// Pages kept in memory, per I/O thread.
inline constexpr std::size_t max_cached_page_bytes = 1 * base::mib;
inline constexpr std::size_t max_cached_bytes = 64 * base::mib;
inline constexpr std::size_t max_cached_pages = 20'000;  // whatever their size: names and dates cost too
inline constexpr std::size_t min_packed_bytes = 512;     // below, the saving is less than a packet
inline constexpr std::int64_t redirect_max_age_s = 60;  // how long a client may remember a name's normal form

}  // namespace wheelyard::http
