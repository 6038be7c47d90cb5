// Limits of the check as a whole, with unit and reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_wheel_name_bytes = 32 * base::mib;  // of all ELF files together

}  // namespace wheelyard::inspect
