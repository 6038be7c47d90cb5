// Whom attestations are believed: the certificate authorities and logs of one Sigstore instance, as its
// clients have them.
//
//     {"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1",
//      "tlogs":[{"publicKey":{"rawBytes":"…","validFor":{"start":"2021-01-12T11:53:27Z"}},…}],
//      "certificateAuthorities":[{"certChain":{"certificates":[{"rawBytes":"…"},…]},"validFor":{…},…}],
//      "ctlogs":[…],…}
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/keys.hpp"
#include "lib/attest/sigstore/identity.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::sigstore {

struct Validity {
    base::UnixMicros from = std::numeric_limits<base::UnixMicros>::min();
    base::UnixMicros until = std::numeric_limits<base::UnixMicros>::max();  // inclusive
    [[nodiscard]] bool has(base::UnixMicros time) const { return from <= time && time <= until; }
};

struct Authority {
    std::vector<std::string> chain;  // DER: intermediates, and the root at the end
    Validity validity;
};

// Its ID is that of its key (RFC 6962, 3.2): what the file says of it is not read.
struct Log {
    attest::PublicKey key;
    Validity validity;
};

struct TrustedRoot {
    std::vector<Authority> authorities;
    std::vector<Log> entry_logs;        // Rekor, version 1: keys over P-256; others are left out
    std::vector<Log> certificate_logs;  // of certificates (CT)
};

// Error "trusted_root.form": no such document, or one without an authority or a log of either kind.
[[nodiscard]] base::Result<TrustedRoot> read_trusted_root(std::string_view json);
// The root of the public instance, on which attestations of public packages are made.
[[nodiscard]] const TrustedRoot& public_root();
// The log whose key has this ID (hex) and was valid then; nullptr: none.
[[nodiscard]] const Log* find_log(const std::vector<Log>& logs, std::string_view id, base::UnixMicros time);

struct Certificate {
    attest::PublicKey key;
    std::string pem;  // as the log of entries has it
    Identity identity;
};

[[nodiscard]] bool is_certificate(std::string_view der);
// `time`: when it was used. Errors: "attestation.certificate" (no such certificate, or another key than
// P-256), "attestation.chain", "attestation.usage", "attestation.sct", "attestation.identity".
[[nodiscard]] base::Result<Certificate> verify_certificate(std::string_view der, base::UnixMicros time,
                                                           const TrustedRoot& root);

}  // namespace wheelyard::sigstore
