// Limits of the check as a whole, with unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

// NAME_MAX (255 bytes) less ".metadata", which the published tree appends to a file's name (PEP 658). A row
// whose page cannot be written would block every later one.
inline constexpr std::size_t max_wheel_filename_bytes = 246;

inline constexpr std::uint64_t max_wheel_name_bytes = 32 * base::mib;  // of all ELF files together

}  // namespace wheelyard::inspect
