// Limits of indexer/avail_wheels/query/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

inline constexpr std::uint64_t max_requirements_bytes = 4 * base::mib;
inline constexpr std::size_t max_requirements = 20'000;
inline constexpr int deepest_requirements_nesting = 16;  // files that name files by -r

}  // namespace wheelyard::avail_wheels
