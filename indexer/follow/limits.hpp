// Limits of indexer/follow/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// Size of one followed file.
inline constexpr std::uint64_t max_followed_file_bytes = 64 * base::gib;
// Retries per project and round when files vanish between its page and their download.
inline constexpr int max_page_reads = 3;
inline constexpr std::size_t max_name_bytes = 255;  // NAME_MAX of Linux file systems
// Of METADATA, and of the provenance, beside a wheel.
inline constexpr std::uint64_t max_followed_metadata_bytes = 16 * base::mib;
// Of an event log in one round; each of its files counts as at least events_per_segment. An index of a million
// wheels has some two million. Of a longer log the newest count, and every project is checked.
inline constexpr std::size_t max_followed_events = 4'000'000;

}  // namespace wheelyard::indexer
