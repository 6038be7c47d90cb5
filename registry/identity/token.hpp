// ID tokens of a provider: compact JWS (RFC 7515) with the claims of OpenID Connect Core 1.0, 3.1.3.7. Pure:
// keys and time are given.
//
//     BASE64URL({"alg":"RS256","kid":"2026-11"}) . BASE64URL({"iss":"https://idp.example/realms/farm","sub":"7f3a…",
//         "aud":"wheelyard","iat":1795700000,"exp":1795700300,"nonce":"…","groups":["/hpc"]}) . BASE64URL(signature)
//
// The order of the checks is that of the file: nothing is parsed before its size is known, no key is looked
// up for an issuer that is not configured, and no claim decides before the signature is verified.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/identity/key_set.hpp"

namespace wheelyard::identity {

// What a token must say to be for us.
struct Expected {
    std::string issuer;                     // exact text
    std::string client_id;                  // ours
    std::optional<std::string> nonce = {};  // none: we sent none (device code)
    // Another client that asks for it (`azp`), and must: then the token may be for others as well as for us,
    // and an access token, as service accounts have. Empty: we ask.
    std::string party = {};
    bool is_alone = false;  // the token is for us alone, as a job's
};

// The claims of a token that was verified.
struct Claims {
    std::string issuer;
    std::string
        subject;  // with the issuer: who it is. Never an e-mail address or a user's name: these change owners
    std::string id;     // `jti`; empty: the token has none
    io::Json all = {};  // of the token, for groups and the shown name

    // A list of texts, compared exactly; a claim of another form has none. The first max_groups.
    [[nodiscard]] std::vector<std::string> groups(std::string_view claim) const;
    // For display only: `name`, else `preferred_username`, else the subject; printable, at most
    // max_shown_name_bytes.
    [[nodiscard]] std::string shown_name() const;
};

// What a token claims before anything is verified: to choose among what is configured.
struct Claimed {
    std::string issuer;
    std::string party;          // `azp`; empty: none
    std::int64_t issued_s = 0;  // `iat`; 0: none
};
// Errors "jwt.size", "jwt.form", "jwt.json", "jwt.issuer".
[[nodiscard]] base::Result<Claimed> claimed_by(std::string_view token);

// Codes of errors, in the order of the checks: "jwt.size", "jwt.form", "jwt.json", "jwt.algorithm",
// "jwt.extension", "jwt.issuer", "jwt.key", "jwt.signature", "jwt.audience", "jwt.party", "jwt.type",
// "jwt.time", "jwt.expired", "jwt.early", "jwt.lifetime", "jwt.nonce", "jwt.subject". No error quotes more of
// the token than one short claim.
[[nodiscard]] base::Result<Claims> verify_token(std::string_view token, const KeySet& keys,
                                                const Expected& expected, std::int64_t now_s);

}  // namespace wheelyard::identity
