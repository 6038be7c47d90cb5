// Limits of builder/doctor/, with units and reasons.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t log_scan_bytes = 2 * base::gib;     // examined at a log's end; takes seconds
inline constexpr std::size_t context_lines = 4;                    // shown before and after the first error
inline constexpr std::size_t max_log_line_bytes = 64 * base::kib;  // the rest of a longer line is ignored

}  // namespace wheelyard::builder
