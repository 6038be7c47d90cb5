// Limits of registry/commit/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// Commits that wait for the writer thread. Each belongs to an upload in progress, so the upload threads bound
// the queue.
inline constexpr std::size_t max_queued_writes = 256;
inline constexpr std::size_t max_rows_of_a_commit = 64;  // keeps a group commit to a few ms

// Deferred root pages (publishing.hpp).
inline constexpr std::int64_t root_delay_ms = 1'000;  // uploads of one burst share a write
inline constexpr int root_rest_factor =
    10;  // pause = 10 × the last write's duration: about a tenth of the time
inline constexpr std::int64_t max_root_rest_ms = 60'000;  // longest pause, also between failed tries

}  // namespace wheelyard::registry
