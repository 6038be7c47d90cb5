// Limits of lib/inspect/, each with its unit and its reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_wheel_name_bytes = 32 * base::mib;  // those of all its files

}  // namespace wheelyard::inspect
