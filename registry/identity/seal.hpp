// A text that only this process can read and make, so that somebody else may keep it: AES-256-GCM (NIST SP 800-38D) with a random
// nonce, as base64url. The key is random and never stored: after a restart nothing opens that was sealed before.
//
//     base64url(nonce (12 bytes) ‖ ciphertext ‖ tag (16 bytes))
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::identity {

// Thread-safe.
class Seal {
  public:
    Seal();
    [[nodiscard]] std::string close(std::string_view text) const;
    // nullopt: it is not what close() made, or of another object.
    [[nodiscard]] std::optional<std::string> open(std::string_view sealed) const;

  private:
    std::string key_;
};

}  // namespace wheelyard::identity
