// Limits of builder/remote/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

// Smaller wheels go at once: two round trips less, and little to lose.
inline constexpr std::uint64_t in_parts_from_bytes = 8 * base::mib;
inline constexpr int max_stuck_parts = 6;            // in a row, of one try: 8 s, a restart of the registry
inline constexpr std::int64_t stuck_pause_ms = 250;  // after the first of them; doubles
inline constexpr std::uint64_t min_moved_bytes = base::mib;  // a try that brought so much is not counted
inline constexpr std::size_t max_upload_id = 64;
inline constexpr std::uint64_t max_token_bytes = 4 * base::kib;

}  // namespace wheelyard::builder
