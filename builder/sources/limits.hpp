// Limits of builder/sources/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t copy_piece_bytes = base::mib;  // copied between two calls of `keep_alive`
inline constexpr std::int64_t cache_rest_ms = 60 * 60'000;  // a source used more recently is not removed
inline constexpr std::uint64_t max_source_bytes = 8 * base::gib;
inline constexpr std::uint64_t max_pyproject_bytes = base::mib;
inline constexpr std::int64_t max_unpack_ms = 30 * 60'000;  // of one archive, by a tick that holds the lock

// A step on the login node is dead if it has not touched its marker for this long. It does so every 10 s.
inline constexpr std::int64_t login_step_silent_ms = 120'000;
inline constexpr int login_step_touch_s = 10;
// By the tick that starts the step: a clone of a small repository ends within this time.
inline constexpr int login_step_looks = 20;
inline constexpr std::int64_t login_step_look_ms = 100;
inline constexpr std::uint64_t max_step_script_bytes = 4 * base::mib;
inline constexpr std::uint64_t max_login_starts = 3;          // of one step that never writes its end
inline constexpr std::int64_t git_ask_timeout_ms = 20'000;    // checking whether a clone is current
inline constexpr std::int64_t git_look_timeout_ms = 120'000;  // listing tags

// Checking every file of a clone on a slow file system; less than lock_stale_after_ms.
inline constexpr std::int64_t git_check_timeout_ms = 5 * 60'000;

}  // namespace wheelyard::builder
