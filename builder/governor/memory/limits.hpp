// Limits of builder/governor/memory/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::governor {

using base::gib;
using base::kib;
using base::mib;

inline constexpr std::int64_t reread_limits_ms = 1'000;

// Kept free of compiles: what was not seen growing yet, page tables, the build tool itself.
inline constexpr std::uint64_t reserve_part = 50;  // 1/50 of the limit …
inline constexpr std::uint64_t min_reserve_bytes = 12 * mib;
inline constexpr std::uint64_t max_reserve_bytes = 2 * gib;
inline constexpr double pressure_above = 0.85;             // a compile that died now may have died of memory
inline constexpr std::int64_t pressure_memory_ms = 3'000;  // for how long a high reading stays evidence

// The kernel's pressure: so much of the time stalled, seen over at least this long, stops the youngest too.
inline constexpr double stall_part = 0.1;
inline constexpr std::int64_t stall_window_ms = 200;
inline constexpr std::int64_t qstat_timeout_ms = 10'000;  // a server that is down must not hold the build
inline constexpr std::uint64_t max_proc_file_bytes = mib;
inline constexpr std::size_t max_tree_processes = 512;  // of one compile

}  // namespace wheelyard::governor
