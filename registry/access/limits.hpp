// Limits of registry/access/, each with its unit and its reason.
#pragma once

#include <cstddef>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

// Tokens.
inline constexpr std::size_t token_secret_bytes = 32;  // 256 bit: a plain hash of it is enough at rest
inline constexpr std::size_t token_id_bytes = 6;       // public; unique among a site's few hundred
inline constexpr std::size_t max_authorization_bytes = 4 * base::kib;

}  // namespace wheelyard::registry
