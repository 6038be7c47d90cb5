// Attestations of an upload (PEP 740), and where an index lets its wheels come from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/sigstore/attestation.hpp"
#include "lib/wire/problem.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// The form's field, verified; an empty field gives an empty document. Refuses with "upload.attestations" what does not hold.
[[nodiscard]] wire::Answered<sigstore::FileProvenance> check_attestations(std::string_view field,
                                                                          std::string_view filename,
                                                                          std::string_view sha256,
                                                                          const sigstore::TrustedRoot& root);

// Where an uploaded file comes from.
struct Origin {
    std::string project;  // normalised
    std::string
        agent;  // ID of the token, or agent:SITE, that says what made the wheel; empty: nobody says it
    const std::vector<sigstore::Attested>& attested;
};
// Refuses with "upload.not_attested" unless one of the index's origins fits, or it has none.
[[nodiscard]] wire::Answered<void> check_origin(const IndexConfig& index, const Origin& origin);

}  // namespace wheelyard::registry
