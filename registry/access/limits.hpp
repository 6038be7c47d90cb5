// Limits of registry/access/, each with its unit and its reason.
#pragma once

#include <cstddef>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

// Tokens.
inline constexpr std::size_t token_secret_bytes =
    32;                                           // 256 bits of entropy: an unsalted hash is safe to store
inline constexpr std::size_t token_id_bytes = 6;  // public; unique among a few hundred tokens
inline constexpr std::size_t max_authorization_bytes = 4 * base::kib;

}  // namespace wheelyard::registry
