// `[attest]` and `[[index.attested_by]]`.
#include <algorithm>

#include "registry/config/config_rows.hpp"

namespace wheelyard::registry {
namespace {

void check_origin(io::TomlTable& table, const AttestedBy& origin, IndexConfig&) {
    const bool names_publisher =
        !origin.issuer.empty() && !(origin.subject.empty() && origin.repository.empty());
    const bool has_claims = !(origin.issuer + origin.subject + origin.repository + origin.workflow).empty();
    if (origin.agents.empty() ? !names_publisher : has_claims)
        table.report("issuer",
                     "names the agents, or a publisher by its issuer and a repository or a subject");
    if (!origin.workflow.empty() && origin.repository.empty())
        table.report("workflow", "is a file of the repository, which is not named");
}

std::string subject_fault(const std::string& subject) {
    const std::size_t star = subject.find('*');
    const bool is_good = star == std::string::npos ||
                         (star + 1 == subject.size() && subject.find("@refs/") != std::string::npos);
    return is_good ? "" : "is an exact text; only its ref may end in `*`: \"…/release.yml@refs/tags/*\"";
}

}  // namespace

bool AttestConfig::is_service_account(std::string_view token_id) const {
    return std::find(service_accounts.begin(), service_accounts.end(), token_id) != service_accounts.end();
}

std::string RegistryConfig::signer(std::string_view key_id) const {
    if (!attest.name.empty()) return attest.name;
    return server.public_url.empty() ? "urn:wheelyard:registry:" + std::string(key_id) : server.public_url;
}

io::TomlRow<RegistryConfig> attest_row() {
    using A = AttestConfig;
    using io::key;
    const auto is_uri = [](const std::string& text) { return text.find(':') != std::string::npos; };
    return io::table(
        "attest", &RegistryConfig::attest,
        {
            key("key", &A::key).hint("PEM; without it nothing is signed", R"("provenance.key")"),
            key("signer", &A::name,
                {.type = "URI",
                 .fallback = "`server.public_url`",
                 .check = io::must(is_uri, "a URI like https://wheels.example.org")})
                .hint("URI of this registry in statements; without it server.public_url"),
            key("service_accounts", &A::service_accounts)
                .hint("IDs of tokens, agent:SITE of enrolled agents, that run as a service account: SLSA "
                      "level 2"),
            key("trusted_root", &A::trusted_root, {.fallback = "Sigstore's public instance"})
                .hint("whose uploaded attestations count; without it Sigstore's public instance",
                      R"("trusted_root.json")"),
        },
        {.hint = "Signed statements about wheels that agents built: `wheelyard-registry attest init` makes "
                 "the keys."},
        [](io::TomlTable& table, A& attest, RegistryConfig&) {
            if (attest.key.empty() && !(attest.name.empty() && attest.service_accounts.empty()))
                table.report("key",
                             "nothing is signed without a key: `wheelyard-registry attest init` makes one");
        });
}

io::TomlRow<IndexConfig> attested_by_row() {
    using A = AttestedBy;
    using io::key;
    return io::table(
        "attested_by", &IndexConfig::attested_by,
        {
            key("projects", &A::projects, projects_facts()).sample(R"(["demo"])"),
            key("issuer", &A::issuer, {.type = "URL"})
                .sample(R"("https://token.actions.githubusercontent.com")"),
            key("repository", &A::repository, {.type = "URL", .fallback = "any"})
                .sample(R"("https://github.com/octo-org/demo")"),
            key("workflow", &A::workflow, {.fallback = "any"}).sample(R"(".github/workflows/release.yml")"),
            key("subject", &A::subject,
                {.fallback = "any",
                 .check = subject_fault,
                 .sample =
                     R"("https://github.com/octo-org/demo/.github/workflows/release.yml@refs/tags/*")"}),
            key("agents", &A::agents)
                .hint("instead of a publisher: names of agents that enrolled (\"agent:bede-gh200\") and "
                      "IDs of "
                      "tokens, whose uploads say what made the wheel; \"*\": any"),
        },
        {.hint = "Whose files alone this index takes: of publishers, by their attestations (PEP 740), and of "
                 "agents."},
        check_origin);
}

}  // namespace wheelyard::registry
