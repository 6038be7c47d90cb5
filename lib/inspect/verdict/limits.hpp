// Limits of lib/inspect/verdict/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

// Bombs: a wheel over `bomb_floor_bytes` may not unpack to more than `bomb_ratio` times its size, nor may a
// member, unless an index's policy says otherwise (policy.hpp); 43 real wheels stay under 5 in total and
// under 25 in each member of over 1 MiB. DEFLATE itself ends at 1,032.
inline constexpr std::uint64_t bomb_floor_bytes = 64 * base::mib;
inline constexpr std::uint64_t bomb_ratio = 100;
inline constexpr std::uint64_t max_unpacked_bytes = 64 * base::gib;

// Findings.
inline constexpr std::size_t max_verdicts_collected = 1000;  // of one code
inline constexpr std::size_t max_verdicts_shown = 20;  // of one code; the last says how many more there are
inline constexpr std::size_t max_evidence_bytes = 300;

}  // namespace wheelyard::inspect
