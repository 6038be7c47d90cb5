// Limits of builder/governor/, each with its unit and its reason.
#pragma once

#include <cstdint>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

inline constexpr std::uint64_t max_profile_bytes = 64 * mib;

}  // namespace wheelyard::governor
