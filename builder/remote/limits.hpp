// Limits of builder/remote/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

// Smaller wheels are sent in one request: that saves two round trips, and a cut loses little.
inline constexpr std::uint64_t in_parts_from_bytes = 8 * base::mib;
// Consecutive parts without progress in one try: 8 s, enough for a restart of the registry.
inline constexpr int max_stuck_parts = 6;
inline constexpr std::int64_t stuck_pause_ms = 250;  // pause after the first of them; doubles each time
inline constexpr std::uint64_t min_moved_bytes = base::mib;  // a try that sends this much is not counted
inline constexpr std::uint64_t max_download_bytes = 64 * base::gib;  // a wheel; torch with CUDA has 2.5 GiB
inline constexpr std::size_t max_upload_id = 64;
inline constexpr std::uint64_t max_token_bytes = 4 * base::kib;
// What a token may do: its projects are its longest part.
inline constexpr std::uint64_t max_access_answer_bytes = base::mib;
// Of a secret in a log: pieces of the log are searched with as much before and after them.
inline constexpr std::size_t max_secret_bytes = 4 * base::kib;

}  // namespace wheelyard::builder
