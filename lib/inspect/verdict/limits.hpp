// Limits for size checks and findings, with unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

// Decompression bombs: a member or wheel that unpacks to more than `bomb_floor_bytes` may not exceed
// `bomb_ratio` times its packed size, unless an index's policy says otherwise (policy.hpp). Published wheels
// stay under 5 in total and 25 per member; DEFLATE's maximum is 1,032.
inline constexpr std::uint64_t bomb_floor_bytes = 64 * base::mib;
inline constexpr std::uint64_t bomb_ratio = 100;
inline constexpr std::uint64_t max_unpacked_bytes = 64 * base::gib;

inline constexpr std::size_t max_verdicts_collected = 1000;  // per code
inline constexpr std::size_t max_verdicts_shown =
    20;  // per code; the last one includes the number of omitted ones
inline constexpr std::size_t max_evidence_bytes = 300;

}  // namespace wheelyard::inspect
