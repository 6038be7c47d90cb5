// Limits of builder/governor/memory/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::governor {

using base::gib;
using base::kib;
using base::mib;

// Limits and the use of other processes change during a build.
inline constexpr std::int64_t reread_limits_ms = 1'000;

// Memory kept free of compiles, for growth between two samples, page tables and the build tool itself.
inline constexpr std::uint64_t reserve_divisor = 50;  // 1/50 of the limit, within the next two
inline constexpr std::uint64_t min_reserve_bytes = 12 * mib;
inline constexpr std::uint64_t max_reserve_bytes = 2 * gib;
// Above this part of the room, memory counts as short: a compile that dies then may have died of memory.
inline constexpr double pressure_above = 0.85;
inline constexpr std::int64_t pressure_memory_ms = 3'000;  // how long a shortage counts as recent

// Pressure stall information: a stalled share above stall_fraction, over at least stall_window_ms, is
// pressure.
inline constexpr double stall_fraction = 0.1;
inline constexpr std::int64_t stall_window_ms = 200;
inline constexpr std::uint64_t max_proc_file_bytes = mib;

}  // namespace wheelyard::governor
