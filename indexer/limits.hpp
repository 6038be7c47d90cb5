// How much the indexer holds, reads or waits for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// A page larger than this is taken as changed without being compared, and is not checked.
inline constexpr std::uint64_t max_page_bytes = 256 * base::mib;
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
// A smaller page is sent about as fast as it is: no .gz beside it.
inline constexpr std::size_t min_gzipped_bytes = 1'024;
// Of an index's published log: its last file is written anew with every event.
inline constexpr std::size_t events_a_segment = 500;
inline constexpr std::uint64_t max_event_segment_bytes = 4 * base::mib;
// So many of its files at once are synced with their file system as a whole: singly each would be held open
// until all are written.
inline constexpr std::size_t bulk_from_segments = 32;
// Following another tree.
inline constexpr std::uint64_t max_followed_file_bytes = 64 * base::gib;
inline constexpr int max_page_reads = 3;  // of one project a round, while its files come and go
// published.json holds one number and some names of indexes.
inline constexpr std::uint64_t max_state_bytes = base::mib;
// A publisher on another host that has not renewed its lock for this long is taken for dead; renewed four
// times as often.
inline constexpr std::int64_t lock_stale_after_ms = 120'000;
// Who waits for a lock that is held by somebody of this host looks at it so often, and so many times.
inline constexpr std::int64_t lock_poll_ms = 20;
inline constexpr int max_lock_polls = 1'000;
// Read and hashed at once where a file is copied because the blob cannot be linked.
inline constexpr std::size_t copy_chunk_bytes = base::mib;

// A catalogue's base up to this size is rewritten with every change; above it changes go to the delta …
inline constexpr std::uint64_t small_catalogue_bytes = 256 * base::kib;
// … until so many projects are in it: then a new base costs less than what readers fetch again and again.
inline constexpr std::size_t max_delta_projects = 256;

}  // namespace wheelyard::indexer
