// Limits of registry/store/, each with its unit and its reason.
#pragma once

#include <cstdint>

namespace wheelyard::registry {

// The store's lock (lock.hpp).
inline constexpr std::uint64_t max_lock_bytes = 64;  // a process id and a line end
inline constexpr std::int64_t store_lock_wait_ms = 300;
inline constexpr std::int64_t store_lock_poll_ms = 10;

}  // namespace wheelyard::registry
