// HMAC of RFC 2104 with SHA-256.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// Raw bytes.
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace wheelyard::base
