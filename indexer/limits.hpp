// How much the indexer holds, reads or waits for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// Events read at once: a tree that is rebuilt from nothing reads its whole log in pieces of this size.
inline constexpr std::size_t events_at_once = 10'000;
// A page larger than this is taken as changed without being compared, and is not checked.
inline constexpr std::uint64_t longest_page_bytes = 256 * base::mib;
// published.json holds one number and some names of indexes.
inline constexpr std::uint64_t longest_state_bytes = base::mib;
// A publisher on another host that has not renewed its lock for this long is taken for dead; renewed four
// times as often.
inline constexpr std::int64_t lock_stale_after_ms = 120'000;
// Read and hashed at once where a file is copied because the blob cannot be linked.
inline constexpr std::size_t copy_chunk_bytes = base::mib;

}  // namespace wheelyard::indexer
