// Limits of registry/api/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "registry/http/limits.hpp"

namespace wheelyard::registry {

// Tasks that one request adds; their answers fit the reply of any client.
inline constexpr std::size_t max_tasks_added = 100;

inline constexpr std::size_t max_builds_of_request = 20;  // the newest

// Events in one reply of the audit log, and those that a filter looks at for it.
inline constexpr std::size_t max_events_returned = 1'000;
inline constexpr std::int64_t max_events_read = 100'000;
inline constexpr std::size_t max_filter_bytes = 200;  // of one part of the filter

// Log-ins of people.
// Requests to providers: each may hold a thread for seconds. Of one network one of each kind.
inline constexpr std::size_t max_running_logins = http::provider_threads - 4;
inline constexpr std::size_t max_running_logins_of_a_kind = 8;  // so that devices leave pages some
// Of them, of networks whose last log-in came to nothing within login_memory_s: a flood leaves the rest to others.
inline constexpr std::size_t max_running_logins_of_failed = 4;
inline constexpr std::int64_t login_memory_s = 60;
inline constexpr std::size_t max_failed_logins = 10'000;  // networks that are remembered; the oldest give way
inline constexpr std::size_t min_login_secret = 32;       // characters that the client chooses
inline constexpr std::size_t max_login_secret = 128;
inline constexpr std::size_t max_client_secret_bytes = 4 * 1024;

// Files in one reply of the list of an index's files.
inline constexpr std::size_t max_files_returned = 1'000;

// Files that one reply of the search for a component looks at, and components in it.
inline constexpr std::size_t max_files_searched = 1'000;
inline constexpr std::size_t max_components_found = 1'000;
inline constexpr std::size_t max_component_bytes =
    200;  // of the name, and of the version, that is looked for

// Projects, and uploaders, in the description of an index's storage.
inline constexpr std::size_t max_top_returned = 50;

// Days in the description of an index's storage.
inline constexpr std::int64_t max_growth_days = 365;

// The clocks of an agent and of the registry may differ by this much.
inline constexpr std::int64_t max_clock_skew_ms = 10 * 60'000;
// A site that has been silent for so long makes room for another one.
inline constexpr std::int64_t forget_site_after_ms = std::int64_t{30} * 24 * 3'600'000;

}  // namespace wheelyard::registry
