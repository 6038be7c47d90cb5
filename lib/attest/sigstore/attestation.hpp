// Attestations of PEP 740: who says that a file with this name and SHA-256 is theirs, verified without a
// network.
//
//     {"version":1,
//      "verification_material":{"certificate":"BASE64 of the DER","transparency_entries":[{…}]},
//      "envelope":{"statement":"BASE64","signature":"BASE64 of the DER"}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/sigstore/identity.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::sigstore {

struct Attested {
    std::string predicate_type;
    Identity identity;
    base::UnixMicros time = 0;  // when the log took it
};

// For the facts of a file:
// {"predicate_type":…,"issuer":…,"subject":…,"repository":…,"workflow":…,"ref":…,"trigger":…,"run":…,"time":…}.
[[nodiscard]] io::Json record_of(const Attested& attested);

// The attestations of one file, in the form in which they are served (PEP 740, "provenance objects").
struct FileProvenance {
    std::vector<Attested> attested;
    std::string document;  // {"version":1,"attestation_bundles":[{"publisher":{…},"attestations":[{…}]},…]}
};

// The name is compared as a file name, so another spelling of the same file is the same. All has to hold.
// Errors are "attestation.REASON" of log_entry.hpp and trusted_root.hpp, and: "form", "version", "entries"
// (not one log entry), "signature", "statement" (no in-toto statement about one file, or of a predicate type
// that PEP 740 does not know), "other_file".
[[nodiscard]] base::Result<Attested> verify_attestation(const io::Json& attestation,
                                                        std::string_view filename, std::string_view sha256,
                                                        const TrustedRoot& root);
// `field`: of an upload, a JSON list. An empty list gives an empty document. Errors: those above,
// "attestation.too_large", "attestation.count", "attestation.twice" (two of one predicate type).
[[nodiscard]] base::Result<FileProvenance> verify_attestations(std::string_view field,
                                                               std::string_view filename,
                                                               std::string_view sha256,
                                                               const TrustedRoot& root);
// `document`: a provenance object of another index. What it says of publishers is not signed: the result's
// document has them from the certificates. Errors: those of verify_attestations(), and
// "attestation.publisher" (its kind is another one).
[[nodiscard]] base::Result<FileProvenance> verify_provenance(std::string_view document,
                                                             std::string_view filename,
                                                             std::string_view sha256,
                                                             const TrustedRoot& root);

}  // namespace wheelyard::sigstore
