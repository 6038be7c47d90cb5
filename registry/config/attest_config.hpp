// `[attest]`: whether and how the registry signs statements about wheels that agents built, and its indexes, and whose
// attestations it believes; `[[index.attested_by]]`: whose wheels an index takes.
//
//     [[index.attested_by]]
//     projects = ["solver"]
//     issuer = "https://token.actions.githubusercontent.com"
//     repository = "https://github.com/octo-org/solver"
//     workflow = ".github/workflows/release.yml"
//
//     [[index.attested_by]]
//     agents = ["agent:bede-gh200"]
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/toml.hpp"

namespace wheelyard::registry {

struct AttestConfig {
    std::filesystem::path key;  // PEM; empty: nothing is signed
    std::string name;           // URI of this registry in statements; empty: server.public_url
    // IDs of tokens whose agents run as a site's service account: a name can be given to a second token. Names of agents that
    // enrolled (agent:SITE) as well.
    std::vector<std::string> service_accounts;
    std::int64_t history = 1;            // as the root document names it
    std::int64_t index_valid_ms = 0;     // of a signed state of an index
    std::filesystem::path trusted_root;  // of a Sigstore instance; empty: the public one's
    [[nodiscard]] bool is_service_account(std::string_view token_id) const;
};

[[nodiscard]] AttestConfig read_attest(io::TomlTable table);

// One kind of origin: a publisher's attestation, or an agent.
struct AttestedBy {
    std::vector<std::string> projects = {};  // "*" or normalised names
    // IDs of tokens, and names of agents that enrolled (agent:SITE); "*": any that sends what made the wheel.
    std::vector<std::string> agents = {};
    std::string issuer = {};  // the others of an attestation's certificate; empty: any
    std::string subject = {};
    std::string repository = {};
    std::string workflow = {};
    bool operator==(const AttestedBy&) const = default;
};
// All [[index.attested_by]] of an index; empty: it takes wheels of any origin.
[[nodiscard]] std::vector<AttestedBy> read_attested_by(io::TomlTable& index);

}  // namespace wheelyard::registry
