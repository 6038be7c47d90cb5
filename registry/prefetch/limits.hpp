// Limits of registry/prefetch/, each with its unit and its reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

inline constexpr std::uint64_t max_kept_bytes = 64 * base::mib;  // some 300,000 files
inline constexpr std::int64_t resolve_timeout_ms =
    30 * 60'000;                                           // its pages may all be fetched from upstreams
inline constexpr std::int64_t file_wait_ms = 16 * 60'000;  // the server answers after at most 15 minutes
inline constexpr int max_file_tries = 3;
inline constexpr std::int64_t file_pause_ms = 11'000;  // for 10 s the server remembers that a file failed

}  // namespace wheelyard::registry
