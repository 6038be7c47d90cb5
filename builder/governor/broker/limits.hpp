// Limits of builder/governor/broker/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

// Only compiles predicted to take this long get a cgroup: joining one takes 4 to 16 ms.
inline constexpr double group_from_s = 1;

inline constexpr std::int64_t flush_history_ms = 20'000;
inline constexpr std::size_t max_trace_entries = 200'000;

// Through a cache that does not report hits, a run with a smaller peak counts as a hit and is not measured.
inline constexpr std::uint64_t cache_hit_bytes = 32 * mib;

}  // namespace wheelyard::governor
