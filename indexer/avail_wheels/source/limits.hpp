// Limits of indexer/avail_wheels/source/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

// Pages that one glob may fetch, one after the other. A farm's index has hundreds of projects, a public one
// 700,000.
inline constexpr std::size_t max_pages = 5'000;

// Folder levels below the wheelhouse: the Alliance's has wheels at 2, a published tree at 4.
inline constexpr int max_wheelhouse_depth = 5;
inline constexpr std::size_t max_wheelhouse_files = 2'000'000;
inline constexpr std::uint64_t max_front_page_bytes = base::mib;  // a registry has few indexes
inline constexpr std::int64_t catalogue_fresh_s =
    60;  // age up to which a cached catalogue is used without asking
inline constexpr std::uint64_t max_catalogue_state_bytes = 64 * base::kib;

}  // namespace wheelyard::avail_wheels
