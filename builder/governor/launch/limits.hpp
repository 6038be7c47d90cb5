// Limits of builder/governor/launch/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

inline constexpr std::int64_t term_grace_ms = 1'000;  // from SIGTERM (drivers remove their files) to SIGKILL
inline constexpr int cancelled_check_ms = 200;  // between looks for the end of a build, without a broker

// Limits the -j of a make that cannot share its parent's jobserver: many such makes may run at once.
inline constexpr unsigned jobs_per_core_below = 2;
inline constexpr std::size_t max_message_bytes = 32 * kib;
inline constexpr std::size_t max_source_bytes = 4 * kib;
inline constexpr std::uint64_t max_response_file_bytes = 4 * mib;  // larger files are not read
inline constexpr unsigned max_response_file_depth = 4;

// Of one stream of a compile, in the launcher's memory, which no limit counts; the rest goes to a file.
inline constexpr std::size_t max_spool_bytes = 2 * mib;

// The interposer is a tenth of that.
inline constexpr std::uint64_t max_interposer_bytes = mib;

// The peak of a compile of which nothing is known, where -j must not be raised.
inline constexpr std::uint64_t unknown_peak_bytes = 2048 * mib;

// The end of a failed compile's output that is searched for signs of memory exhaustion.
inline constexpr std::size_t clue_tail_bytes = 64 * kib;
inline constexpr std::int64_t version_timeout_ms = 5'000;  // `cc --version` and `ccache --show-config`
inline constexpr unsigned max_masquerade_folders = 4;      // on PATH before the compiler: ccache's, distcc's
inline constexpr unsigned max_cache_lookups = 64;          // concurrent, and at most one per core: 2 MiB each

// Concurrent compiles when the broker is gone: few enough for memory, enough to make progress.
inline constexpr unsigned fallback_slots = 2;

}  // namespace wheelyard::governor
