// Limits of registry/config/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// The configuration's bounds.
inline constexpr std::int64_t default_max_file_mib = 8192;  // torch with every architecture is under 4 GiB
inline constexpr std::int64_t max_file_mib_limit = 1024 * 1024;
inline constexpr std::size_t max_index_name = 64;
inline constexpr std::int64_t max_lease_s = 7 * 24 * 3600;  // of a task: longer, and a dead agent holds it
inline constexpr std::int64_t max_task_attempts = 10;       // claims of one task
inline constexpr std::int64_t max_kept_days = 36'500;       // after its end: a century, "for ever"

}  // namespace wheelyard::registry
