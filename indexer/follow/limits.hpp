// Limits of indexer/follow/, each with its unit and its reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// Following another tree.
inline constexpr std::uint64_t max_followed_file_bytes = 64 * base::gib;
inline constexpr int max_page_reads = 3;  // of one project a round, while its files come and go

}  // namespace wheelyard::indexer
