// Limits of builder/governor/broker/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

// A process enters a cgroup in 4 to 16 ms (the kernel waits for all cores), so only compiles that take this
// long are put into one of their own.
inline constexpr double group_from_s = 1;

inline constexpr std::int64_t flush_history_ms = 20'000;
inline constexpr std::size_t max_trace_entries = 200'000;

// Below this a run through a compiler cache that does not say so was a hit, which says nothing of the
// compile.
inline constexpr std::uint64_t cache_hit_bytes = 32 * mib;

}  // namespace wheelyard::governor
