// Public keys and signatures of tokens, for OpenSSL 1.1.1 and 3 alike. signature.cpp wraps libcrypto.
//
// A key is kept as a DER SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), made of the numbers of a JWK (RFC 7518, 6; RFC 8037):
//
//     RSA        30 82 01 22  30 0d 06 09 2a 86 48 86 f7 0d 01 01 01 05 00  03 82 01 0f 00  30 82 01 0a  02 … n  02 … e
//     P-256      30 59  30 13 06 07 2a 86 48 ce 3d 02 01 06 08 2a 86 48 ce 3d 03 01 07  03 42 00 04  x  y
//     Ed25519    30 2a  30 05 06 03 2b 65 70  03 21 00  x
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::identity {

// The algorithms that are accepted: the list is ours, never the provider's nor the token's.
enum class Algorithm { rs256, es256, eddsa };

struct PublicKey {
    Algorithm algorithm = Algorithm::rs256;
    std::string der;
};

// The numbers are big-endian bytes. Errors of code "jwks.key": sizes that are not accepted, a point that is not on the curve.
[[nodiscard]] base::Result<PublicKey> rsa_key(std::string_view modulus, std::string_view exponent);
[[nodiscard]] base::Result<PublicKey> p256_key(std::string_view x, std::string_view y);
[[nodiscard]] base::Result<PublicKey> ed25519_key(std::string_view x);

// Whether `signature` is the key's over `bytes`. ES256 has 64 bytes r‖s (RFC 7518, 3.4); DER is refused.
[[nodiscard]] bool is_signed_by(const PublicKey& key, std::string_view bytes, std::string_view signature);

}  // namespace wheelyard::identity
