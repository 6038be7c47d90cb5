// Attestations of an upload (PEP 740), and where an index lets its wheels come from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/sigstore/attestation.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/wire/problem.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// The form's field, verified; an empty field gives an empty document. Refuses with "upload.attestations" what
// does not hold.
[[nodiscard]] wire::Answered<sigstore::FileProvenance> check_attestations(std::string_view field,
                                                                          std::string_view filename,
                                                                          std::string_view sha256,
                                                                          const sigstore::TrustedRoot& root);

// Where a file comes from, as the upload proved it.
struct Origin {
    std::string project;  // normalised
    std::string
        agent;  // ID of the token, or agent:SITE, that says what made the wheel; empty: nobody says it
    io::Json attested = io::Json::array();  // a list of sigstore::record_of()
};
// Asked wherever a file comes into an index: by an upload, an import, a promotion, or out of quarantine.
// Refuses with "upload.not_attested" unless one of the index's origins fits, or it has none.
[[nodiscard]] base::Status check_origin(const IndexConfig& index, const Origin& origin);
// The same for a file that some index has. An index that the configuration lacks, such as an upstream's
// cache, has no origins.
[[nodiscard]] base::Status check_origin(const RegistryConfig& config, const std::string& index,
                                        const catalog::FileRow& row);
// Of an error of check_origin().
[[nodiscard]] wire::Problem problem_of_origin(const base::Error& error);

}  // namespace wheelyard::registry
