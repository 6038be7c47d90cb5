// `[attest]`: whether and how the registry signs statements about wheels that agents built, and its indexes.
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
    // IDs of tokens whose agents run as a site's service account: a name can be given to a second token.
    std::vector<std::string> service_accounts;
    std::int64_t history = 1;         // as the root document names it
    std::int64_t index_valid_ms = 0;  // of a signed state of an index
    [[nodiscard]] bool is_service_account(std::string_view token_id) const;
};

[[nodiscard]] AttestConfig read_attest(io::TomlTable table);

}  // namespace wheelyard::registry
