// Limits of builder/governor/launch/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

inline constexpr std::int64_t term_grace_ms = 1'000;  // from SIGTERM (drivers remove their files) to SIGKILL

// Of a make that cannot share the jobserver above it: as many of them may run as the window has places.
inline constexpr unsigned jobs_per_core_below = 2;
inline constexpr std::size_t max_message_bytes = 32 * kib;
inline constexpr std::size_t max_source_bytes = 4 * kib;
inline constexpr std::uint64_t max_response_file_bytes = 4 * mib;  // larger ones are passed on unread
inline constexpr unsigned deepest_response_file = 4;

// Of a failed compile's output, searched for its cause.
inline constexpr std::size_t clue_tail_bytes = 64 * kib;
inline constexpr std::int64_t version_timeout_ms = 5'000;  // `cc --version`, once a compiler and build
inline constexpr unsigned max_masquerade_folders = 4;      // one before the other: ccache's, distcc's
inline constexpr unsigned max_asking_caches = 64;  // at once, and no more than there are cores: 2 MiB each

// Compiles at once when the broker is gone: an idle build is no help.
inline constexpr unsigned fallback_slots = 2;

}  // namespace wheelyard::governor
