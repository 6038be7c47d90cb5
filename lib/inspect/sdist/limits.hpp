// Limits for source distributions, with unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_sdist_members = 200'000;  // PyTorch with its submodules: under 20,000
inline constexpr std::size_t max_sdist_name_bytes = 2048;    // with its folder's path below PATH_MAX
inline constexpr std::size_t max_sdist_names_bytes =
    64 * base::mib;  // of all names together, which are kept in memory
inline constexpr std::uint64_t max_pkg_info_bytes = 8 * base::mib;  // as for METADATA

}  // namespace wheelyard::inspect
