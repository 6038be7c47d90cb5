// Limits for device code, with unit and reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_bundle_table_bytes =
    base::mib;  // of one compressed bundle; real tables have about 1 KiB

}  // namespace wheelyard::inspect
