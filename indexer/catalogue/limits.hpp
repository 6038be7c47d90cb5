// Limits of indexer/catalogue/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// Who waits for a lock that is held by somebody of this host looks at it so often, and so many times.
inline constexpr std::int64_t lock_poll_ms = 20;
inline constexpr int max_lock_polls = 1'000;

// A catalogue's base up to this size is rewritten with every change; above it changes go to the delta …
inline constexpr std::uint64_t small_catalogue_bytes = 256 * base::kib;

// … until so many projects are in it: then a new base costs less than what readers fetch again and again.
inline constexpr std::size_t max_delta_projects = 256;

}  // namespace wheelyard::indexer
