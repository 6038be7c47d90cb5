// Limits of indexer/publish/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// A run that touches more projects than this syncs the file system as a whole and not file by file.
inline constexpr std::size_t bulk_from_projects = 256;

// … and shows this many at a time: each is up to four files aside until then.
inline constexpr std::size_t projects_a_settling = 2'000;

// Rows of the catalog that are read in one transaction, of files and of projects; the last project's may be
// more.
inline constexpr std::size_t rows_read_at_once = 250;

// The next are read into their places, which are let go once they have room for so many times as many.
inline constexpr std::size_t max_room_in_readings = 4;

// A root page from this size on (some 5,000 names) need not be out when a run ends that is waited for: it is
// written whole for each new name, and `pip install` asks for the project's page.
inline constexpr std::uint64_t min_late_root_bytes = 256 * base::kib;

}  // namespace wheelyard::indexer
