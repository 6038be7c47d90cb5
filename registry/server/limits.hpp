// Limits of registry/server/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::http {

// The API.
// A reason, a list of names: never a file.
inline constexpr std::size_t max_api_body_bytes = 64 * base::kib;
inline constexpr std::size_t max_api_requests = 64;  // at once, waiting for the pool included

// Bodies in flight.
// Two an upload: one is filled, one is written.
inline constexpr std::size_t upload_buffer_bytes = 1 * base::mib;

// Then others get a turn: pages' p99 stays in single ms.
inline constexpr std::size_t sendfile_turn_bytes = 512 * base::kib;
inline constexpr int requests_per_turn = 16;  // pipelined on one connection, likewise

// Over stall_timeout: slower than any modem.
inline constexpr std::uint64_t slowest_body_bytes_per_s = 1 * base::kib;

// Of a refused body, read so that the client sees why.
inline constexpr std::uint64_t max_lingering_bytes = 256 * base::mib;
inline constexpr std::int64_t max_lingering_ms = 30'000;
inline constexpr std::int64_t quiet_lingering_ms = 2'000;  // no byte for this long ends it earlier
inline constexpr std::size_t max_refusals_at_once = 64;    // connections past the cap that still hear a 503
inline constexpr std::int64_t accept_pause_ms = 100;  // after accept(2) failed: out of descriptors or memory

// Pages kept in memory, per I/O thread.
inline constexpr std::size_t max_cached_page_bytes = 1 * base::mib;
inline constexpr std::size_t max_cached_bytes = 64 * base::mib;
inline constexpr std::size_t max_cached_pages = 20'000;  // whatever their size: names and dates cost too
inline constexpr std::size_t min_packed_bytes = 512;     // below, the saving is less than a packet

}  // namespace wheelyard::http
