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
#include "registry/identity/signature.hpp"

namespace wheelyard::identity {

class KeySet {
  public:
    // Keys of other kinds and for other uses are kept by their ids only. Errors: "jwks.size", "jwks.form", "jwks.count".
    [[nodiscard]] static base::Result<KeySet> parse(std::string_view document);

    // The key that `id` names for this algorithm; without an id the only key of the set. Errors of code "jwt.key": none (kind
    // missing), several, or one that is not accepted.
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
