// Limits of indexer/publish/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// From this many projects, a run syncs the whole file system instead of file by file …
inline constexpr std::size_t bulk_from_projects = 256;

// … and flushes after this many. Until then each project has up to four temporary files.
inline constexpr std::size_t projects_per_flush = 2'000;

// Rows (files and projects) read per transaction; the last project may exceed it.
inline constexpr std::size_t rows_read_at_once = 250;

// Read buffers are reused until their capacity exceeds this multiple of a read.
inline constexpr std::size_t max_buffer_factor = 4;

// In a run with RootPages::prompt, root pages from this size (some 5,000 names) are left to a later run:
// every new name rewrites the whole page, and `pip install` reads only the project's page.
inline constexpr std::uint64_t min_late_root_bytes = 256 * base::kib;

}  // namespace wheelyard::indexer
