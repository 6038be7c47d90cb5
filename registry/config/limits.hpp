// Limits of registry/config/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// Bounds of configuration values.
inline constexpr std::int64_t default_max_file_mib = 8192;  // torch with every architecture is under 4 GiB
inline constexpr std::int64_t max_file_mib_limit = 1024 * 1024;
inline constexpr std::size_t max_index_name = 64;
inline constexpr std::int64_t max_lease_s = 7 * 24 * 3600;  // a dead agent holds its task for this long
inline constexpr std::int64_t max_task_attempts = 10;       // claims per task
inline constexpr std::int64_t max_kept_days = 36'500;       // of an ended task; 100 years means "forever"

}  // namespace wheelyard::registry
