// Limits of builder/agent/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr int max_steps_per_tick = 16;  // of one attempt; greater than the number of states

// The age after which a lock of another host is stale if it is not refreshed.
inline constexpr std::int64_t lock_stale_after_ms = 15 * 60'000;
inline constexpr std::int64_t lock_refresh_every_ms = 30'000;  // during long transfers and copies

// How long the ticks of one `run` reuse the answers of the registry and the indexes.
inline constexpr std::int64_t world_fresh_ms = 30'000;

// Trees measured or removed: each may take a minute on a slow file system.
inline constexpr int max_trees_per_tick = 4;

inline constexpr std::int64_t signs_of_life = 3;  // renewals per lease in a `run`: two may fail
inline constexpr std::uint64_t log_piece_bytes = 48 * base::kib;  // per request; the API accepts 64 KiB
inline constexpr int max_log_pieces_per_tick = 32;                // per task, to keep ticks short
inline constexpr std::size_t max_outcome_bytes =
    60 * base::kib;  // a larger outcome is sent without its provenance

}  // namespace wheelyard::builder
