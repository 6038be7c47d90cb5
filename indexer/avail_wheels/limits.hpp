// How much avail_wheels reads and fetches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

// Pages that one glob may fetch, one after the other: a farm's index has hundreds of names, a public one
// 700,000.
inline constexpr std::size_t most_pages = 5'000;
inline constexpr std::uint64_t longest_requirements_bytes = 4 * base::mib;
inline constexpr std::size_t most_requirements = 20'000;
inline constexpr int deepest_requirements_nesting = 16;  // files that name files by -r
inline constexpr std::uint64_t longest_pyvenv_bytes = 64 * base::kib;
inline constexpr int deepest_wheelhouse_folder =
    5;  // below the wheelhouse: the Alliance's has wheels at 2, a published tree at 4
inline constexpr std::size_t most_wheelhouse_files = 2'000'000;
inline constexpr int newest_python_minor = 99;

}  // namespace wheelyard::avail_wheels
