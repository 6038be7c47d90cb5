// Limits of indexer/avail_wheels/query/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

inline constexpr std::uint64_t max_requirements_bytes = 4 * base::mib;
inline constexpr std::size_t max_requirements = 20'000;
inline constexpr std::uint64_t max_lock_bytes =
    64 * base::mib;                                // a package has a line for each of its wheels
inline constexpr int max_requirements_depth = 16;  // files that include files with -r

}  // namespace wheelyard::avail_wheels
