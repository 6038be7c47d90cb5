// Limits of indexer/follow/, each with its unit and reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// Size of one followed file.
inline constexpr std::uint64_t max_followed_file_bytes = 64 * base::gib;
// Retries per project and round when files vanish between its page and their download.
inline constexpr int max_page_reads = 3;

}  // namespace wheelyard::indexer
