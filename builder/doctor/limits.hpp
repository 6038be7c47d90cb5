// Limits of builder/doctor/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t log_scan_bytes = 2 * base::gib;  // read for the first error: seconds
inline constexpr std::size_t context_lines = 4;                 // of a log, before and after its first error
inline constexpr std::size_t max_log_line_bytes =
    64 * base::kib;  // the rest of a longer one is not looked at

}  // namespace wheelyard::builder
