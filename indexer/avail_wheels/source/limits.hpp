// Limits of indexer/avail_wheels/source/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

inline constexpr std::uint64_t max_wheels_read_bytes = base::gib;  // of a folder in one call: four seconds
inline constexpr std::size_t max_wheels_kept = 20'000;             // in the cache of a folder; 1 KiB each
inline constexpr std::uint64_t max_wheel_cache_bytes = 64 * base::mib;

}  // namespace wheelyard::avail_wheels
