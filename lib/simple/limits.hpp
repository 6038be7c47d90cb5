// Limits for index pages, wheel lists and configuration files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::simple {

inline constexpr std::uint64_t max_page_bytes =
    64 * base::mib;  // the root page of the largest public index: 30 MiB
// The size of a wheel list, and the maximum of each number in it: 1,000,000 wheels with facts need about 600
// MB.
inline constexpr std::uint64_t max_wheel_list_bytes = 4096 * base::mib;
// Buffer size for reading a wheel list's projects in sequence: fits a processor's cache.
inline constexpr std::uint64_t lines_read_at_once_bytes = 256 * base::kib;
inline constexpr std::uint64_t max_pip_config_bytes = base::mib;
inline constexpr std::size_t max_told_bytes = 500;  // of a server's sentence, and of its advice

}  // namespace wheelyard::simple
