// Limits of registry/api/, each with its unit and its reason.
#pragma once

#include <cstddef>

namespace wheelyard::registry {

// Events in one reply of the audit log.
inline constexpr std::size_t max_events_returned = 1'000;

}  // namespace wheelyard::registry
