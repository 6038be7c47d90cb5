// Limits of indexer/avail_wheels/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

inline constexpr int max_library_rounds = 8;  // each asks for the libraries of wheels that became the newest
inline constexpr std::size_t max_required_depth =
    32;  // of requirements of requirements; real ones have some ten
inline constexpr std::size_t max_unread_pages =
    3;  // an upstream that does not answer takes its whole time for each
inline constexpr std::size_t max_pages_of_missing = 64;  // of projects that a wheel list lacks
inline constexpr std::size_t max_requests_per_user = 20;
inline constexpr std::size_t max_token_bytes = 4096;  // the file of a user's token
inline constexpr const char* system_site_file = "/etc/wheelyard/avail_wheels.toml";

}  // namespace wheelyard::avail_wheels
