// Limits of indexer/catalogue/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// Interval and number of attempts when another process of this host holds the lock.
inline constexpr std::int64_t lock_poll_ms = 20;
inline constexpr int max_lock_polls = 1'000;

// A base up to this size is rewritten for every change; for a larger one, changes go to the delta …
inline constexpr std::uint64_t small_catalogue_bytes = 256 * base::kib;

// … until it has this many projects: then a new base costs less than fetching the delta again and again.
inline constexpr std::size_t max_delta_projects = 256;

}  // namespace wheelyard::indexer
