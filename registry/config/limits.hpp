// Limits of registry/config/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace wheelyard::registry {

// Bounds of configuration values.
inline constexpr std::int64_t default_max_file_mib = 8192;  // torch with every architecture is under 4 GiB
// SQLite's logs, the pages of a change and the wheel lists of a large index fit many times.
inline constexpr std::int64_t default_min_free_mib = 64;
inline constexpr std::int64_t default_scrub_mib_per_s = 8;            // 1 TB in a day and a half
inline constexpr std::int64_t max_quota_mib = std::int64_t{1} << 40;  // 2^60 bytes: the sum with a file fits
inline constexpr std::uint64_t no_quota = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t max_config_bytes = 1024 * 1024;  // thousands of indexes
inline constexpr std::size_t max_identity_name = 24;  // with it, names of people fit into those of tokens
inline constexpr std::int64_t max_lease_s = 7 * 24 * 3600;  // a dead agent holds its task for this long

}  // namespace wheelyard::registry
