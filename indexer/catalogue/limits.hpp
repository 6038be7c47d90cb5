// Limits of indexer/catalogue/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

// A base up to this size is rewritten for every change; for a larger one, changes go to the delta …
inline constexpr std::uint64_t small_catalogue_bytes = 256 * base::kib;

// … until it has this many projects: then a new base costs less than fetching the delta again and again.
inline constexpr std::size_t max_delta_projects = 256;

}  // namespace wheelyard::indexer
