// Limits of registry/indexes/, each with its unit and its reason.
#pragma once

#include <cstdint>

namespace wheelyard::registry {

// Commands that change the indexes of a running server (index_request.hpp).
inline constexpr std::uint64_t max_index_request_bytes = 8 * 1024 * 1024;  // a configuration, twice escaped
inline constexpr std::int64_t apply_poll_ms = 20;       // between looks at the server's result
inline constexpr std::int64_t apply_grace_ms = 30'000;  // beyond the wait for pages: reading, the catalog

}  // namespace wheelyard::registry
