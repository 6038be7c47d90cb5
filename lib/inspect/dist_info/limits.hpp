// Limits for the .dist-info folder, with unit and reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

// Members that are read into memory.
inline constexpr std::uint64_t max_metadata_member = 8 * base::mib;
inline constexpr std::uint64_t max_wheel_member = base::mib;
inline constexpr std::uint64_t max_record_member = 32 * base::mib;  // torch: 1.3 MiB
inline constexpr std::uint64_t max_entry_points_member = base::mib;

}  // namespace wheelyard::inspect
