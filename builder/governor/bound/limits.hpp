// Limits of builder/governor/bound/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::governor {

inline constexpr std::int64_t sample_ms = 100;           // between two looks at the processes
inline constexpr std::int64_t max_sample_ms = 1'000;     // where a look takes long
inline constexpr std::int64_t looks_share = 10;          // a look takes at most this part of the time
inline constexpr std::int64_t disk_pause_ms = 1'000;     // between two walks through the folder
inline constexpr std::int64_t disk_slice_ms = 20;        // of a walk, between two looks at the processes
inline constexpr std::int64_t look_at_files_ms = 1'000;  // between two looks at open files
inline constexpr std::int64_t kill_wait_ms = 30'000;  // for killed processes to end: one may wait for a disk

inline constexpr std::uint64_t max_files =
    5'000'000;                                 // of a build: more exhaust file systems by their number
inline constexpr std::size_t max_depth = 256;  // of folders in one another; each is a descriptor of the walk
// The free space that a build leaves on its file system: deleted files that no process shows are in it, too.
inline constexpr std::uint64_t min_free_bytes = base::gib;
// The memory that a build leaves on its machine: what no process shows is in it, too (buffers of sockets, shared memory that
// no process has attached, a memfd of a process that hides its descriptors).
inline constexpr std::uint64_t min_available_bytes = 512 * base::mib;
inline constexpr std::uint64_t max_descriptors = 4'096;  // of a process: a look at open files reads each

}  // namespace wheelyard::governor
