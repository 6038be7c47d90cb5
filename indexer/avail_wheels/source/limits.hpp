// Limits of indexer/avail_wheels/source/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

// Pages that one glob may fetch, one after the other: a farm's index has hundreds of names, a public one
// 700,000.
inline constexpr std::size_t max_pages = 5'000;

// Below the wheelhouse: the Alliance's has wheels at 2, a published tree at 4.
inline constexpr int deepest_wheelhouse_folder = 5;
inline constexpr std::size_t max_wheelhouse_files = 2'000'000;
inline constexpr std::int64_t catalogue_fresh_s = 60;  // within which an index is not asked again
inline constexpr std::uint64_t max_catalogue_state_bytes = 64 * base::kib;

}  // namespace wheelyard::avail_wheels
