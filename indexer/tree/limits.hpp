// Limits of indexer/tree/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// A larger page counts as changed without a comparison and is not checked.
inline constexpr std::uint64_t max_page_bytes = 256 * base::mib;

// Compressing a smaller text gains nothing, so it gets no copies.
inline constexpr std::size_t min_gzipped_bytes = 1'024;
// From here on a page gets them in every tree, because `serve` does not compress larger ones (max_cached_page_bytes).
inline constexpr std::size_t min_large_page_bytes = base::mib;

// Events per file of a published event log. Every new event rewrites the last file.
inline constexpr std::size_t events_per_segment = 500;
inline constexpr std::uint64_t max_event_segment_bytes = 4 * base::mib;
// The log may be another party's; the next serials still fit 64 bits.
inline constexpr std::int64_t max_event_serial = std::int64_t{1} << 62;

// From this many event log files in one run, they are synced with the whole file system: to be synced singly,
// each would stay open until all are written.
inline constexpr std::size_t bulk_from_segments = 32;

// published.json holds one number and some index names.
inline constexpr std::uint64_t max_state_bytes = base::mib;

// A lock of another host that is not renewed for this long is stale. It is renewed at a quarter of this time.
inline constexpr std::int64_t lock_stale_after_ms = 120'000;

// Interval and number of attempts of a command while another process holds the lock.
inline constexpr std::int64_t lock_poll_ms = 20;
inline constexpr int max_lock_polls = 1'000;

// Read and hashed per step when a blob is copied because it cannot be linked.
inline constexpr std::size_t copy_chunk_bytes = base::mib;

}  // namespace wheelyard::indexer
