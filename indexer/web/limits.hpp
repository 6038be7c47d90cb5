// Limits of indexer/web/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

inline constexpr std::int64_t micros_per_second = 1'000'000;
// A description that is larger is cut: the page has to stay readable on a phone.
inline constexpr std::size_t max_description_bytes = 128 * base::kib;

// Wheels of a project whose facts are read for its tables and for the search.
inline constexpr std::size_t max_read_wheels = 400;
// Versions in a matrix, newest first; the rest are in the list of files.
inline constexpr std::size_t max_matrix_versions = 25;
// Projects that the search page lists without its script; the root page of the index lists all.
inline constexpr std::size_t max_listed_projects = 500;
inline constexpr std::size_t max_feed_entries = 20;
// Projects that one is known to need: so many rows of others an upload may change.
inline constexpr std::size_t max_search_needs = 64;
// On the front page, of all indexes together.
inline constexpr std::size_t max_newest = 8;
// Lines on the page of a site, the last that became available; each some 300 bytes and 15 elements.
inline constexpr std::size_t max_site_wheels = 500;

}  // namespace wheelyard::indexer
