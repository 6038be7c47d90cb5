// The keys of a provider (JWK set, RFC 7517). Pure.
//
//     {"keys":[{"kty":"RSA","kid":"2026-11","use":"sig","alg":"RS256","n":"…","e":"AQAB"},
//              {"kty":"EC","crv":"P-256","kid":"e1","x":"…","y":"…"},
//              {"kty":"OKP","crv":"Ed25519","kid":"d1","x":"…"}]}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::identity {

// The algorithms that are accepted: the list is ours, never the provider's nor the token's.
enum class Algorithm { rs256, es256, eddsa };

struct PublicKey {
    Algorithm algorithm = Algorithm::rs256;
    std::string der;
};

// The numbers are big-endian bytes. Errors of code "jwks.key": sizes that are not accepted, a point that is
// not on the curve.
[[nodiscard]] base::Result<PublicKey> rsa_key(std::string_view modulus, std::string_view exponent);
[[nodiscard]] base::Result<PublicKey> p256_key(std::string_view x, std::string_view y);
[[nodiscard]] base::Result<PublicKey> ed25519_key(std::string_view x);

// Says whether `signature` is the key's over `bytes`. ES256 has 64 bytes r‖s (RFC 7518, 3.4); DER is refused.
[[nodiscard]] bool is_signed_by(const PublicKey& key, std::string_view bytes, std::string_view signature);

class KeySet {
  public:
    // Keys of other kinds and for other uses are kept by their ids only. Errors: "jwks.size", "jwks.form",
    // "jwks.count".
    [[nodiscard]] static base::Result<KeySet> parse(std::string_view document);

    // The key that `id` names for this algorithm; without an id the only key of the set. Errors of code
    // "jwt.key": none (kind missing), several, or one that is not accepted.
    [[nodiscard]] base::Result<PublicKey> find(Algorithm algorithm,
                                               const std::optional<std::string>& id) const;
    [[nodiscard]] std::size_t size() const { return rows_.size(); }

  private:
    struct Row {
        std::optional<std::string> id;
        std::optional<Algorithm> algorithm;  // none: of another kind, or not for signatures
        base::Result<PublicKey> key;
    };
    [[nodiscard]] static Row read_row(const io::Json& json);
    std::vector<Row> rows_;
};

// Strict base64url without padding (RFC 7515, 2): one text for each value, with unused bits zero.
[[nodiscard]] std::optional<std::string> decode_strict_base64url(std::string_view text);

}  // namespace wheelyard::identity
