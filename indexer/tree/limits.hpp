// Limits of indexer/tree/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// A page larger than this is taken as changed without being compared, and is not checked.
inline constexpr std::uint64_t max_page_bytes = 256 * base::mib;

// A smaller page is sent about as fast as it is: no .gz beside it.
inline constexpr std::size_t min_gzipped_bytes = 1'024;

// Of an index's published log: its last file is written anew with every event.
inline constexpr std::size_t events_a_segment = 500;
inline constexpr std::uint64_t max_event_segment_bytes = 4 * base::mib;

// So many of its files at once are synced with their file system as a whole: singly each would be held open
// until all are written.
inline constexpr std::size_t bulk_from_segments = 32;

// published.json holds one number and some names of indexes.
inline constexpr std::uint64_t max_state_bytes = base::mib;

// A publisher on another host that has not renewed its lock for this long is taken for dead; renewed four
// times as often.
inline constexpr std::int64_t lock_stale_after_ms = 120'000;

// Read and hashed at once where a file is copied because the blob cannot be linked.
inline constexpr std::size_t copy_chunk_bytes = base::mib;

}  // namespace wheelyard::indexer
