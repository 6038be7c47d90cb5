// Limits of lib/inspect/gpu/, each with its unit and its reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_bundle_table_bytes = base::mib;  // of one compressed bundle; real: 1 KiB

}  // namespace wheelyard::inspect
