// The certificate of an attestation: X.509 v3 of an authority of Sigstore, valid for ten minutes, with the identity of the
// signer as extensions and the promise of a log of certificates (SCT, RFC 6962).
#pragma once

#include <string>
#include <string_view>

#include "lib/attest/sigstore/identity.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"

namespace wheelyard::sigstore {

struct Certificate {
    attest::PublicKey key;
    std::string pem;  // as the log of entries has it
    Identity identity;
};

[[nodiscard]] bool is_certificate(std::string_view der);
// `time`: when it was used. Errors: "attestation.certificate" (no such certificate, or another key than P-256),
// "attestation.chain", "attestation.usage", "attestation.sct", "attestation.identity".
[[nodiscard]] base::Result<Certificate> verify_certificate(std::string_view der, base::UnixMicros time,
                                                           const TrustedRoot& root);

}  // namespace wheelyard::sigstore
