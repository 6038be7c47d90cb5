// Limits of indexer/avail_wheels/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

inline constexpr std::uint64_t max_status_bytes = 64 * base::mib;  // a plan: 200 bytes a cell
inline constexpr std::size_t max_metadata_read = 20'000;           // of files in a folder: a second or two
inline constexpr std::size_t max_requests_of_one = 20;
inline constexpr const char* site_of_the_machine = "/etc/wheelyard/avail_wheels.toml";

}  // namespace wheelyard::avail_wheels
