// The rows of registry.toml's tables (lib/io/toml_rows.hpp), each in the source of its table: by them the file
// is read, `init` writes one (config_template.cpp), and the reference page has keys, types and defaults.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/text/url.hpp"
#include "lib/io/toml_rows.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

[[nodiscard]] const io::TomlRows<RegistryConfig>& config_rows();  // of the whole file

[[nodiscard]] io::TomlRow<RegistryConfig> pages_row();
[[nodiscard]] io::TomlRow<RegistryConfig> attest_row();
[[nodiscard]] io::TomlRow<RegistryConfig> identity_row();
// Tables of one issuer, and an [[identity]] of it, share what is fetched of it, so they must say the same of
// it.
[[nodiscard]] io::TomlRow<RegistryConfig> publisher_row();

[[nodiscard]] io::TomlRow<RegistryConfig> index_row();
[[nodiscard]] const io::TomlRows<IndexConfig>& index_rows();
[[nodiscard]] io::TomlRow<IndexConfig> attested_by_row();
[[nodiscard]] io::TomlRow<IndexConfig> upstream_row();
[[nodiscard]] io::TomlRows<inspect::Policy> policy_rows(const std::string& preset);
// Reads the keys of a policy that are codes of rules.
void read_severities(io::TomlTable& table, inspect::Policy& policy);

// `issuer`, `hosts` and `allow_…`.
[[nodiscard]] io::TomlRows<identity::ProviderRules> provider_rows(std::string issuer_sample);
// Fills in what depends on other keys, and checks the issuer.
void check_provider(io::TomlTable& table, identity::ProviderRules& provider);

// "https://wheels.example.org", without a trailing slash.
[[nodiscard]] io::TextCheck must_be_base_url(std::string_view example);
// `what` is named like an index.
[[nodiscard]] io::TextCheck must_be_name(const std::string& what);
// Of a list of hosts as base::Url has them: lower case, with the port if one is written.
[[nodiscard]] io::TomlFacts hosts_facts();

// `projects`: "*", or normalised names.
[[nodiscard]] io::TomlFacts projects_facts(std::string if_empty = "is empty; \"*\" means all projects");

template <typename Owner>
[[nodiscard]] io::TomlRow<Owner> policy_row(inspect::Policy Owner::*of, const std::string& preset,
                                            io::TomlFacts facts) {
    facts.is_always_read = true;
    return io::table(
        "policy", of, policy_rows(preset), std::move(facts),
        [](io::TomlTable& table, inspect::Policy& policy, Owner&) { read_severities(table, policy); });
}

}  // namespace wheelyard::registry
