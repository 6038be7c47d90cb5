// `[attest]`.
#include "registry/config/config.hpp"

#include <algorithm>
#include <utility>

#include "registry/config/identity_config.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t max_history = 1'000'000;
constexpr std::int64_t index_valid_days = 7;  // a mirror that stands still is noticed after that
constexpr std::int64_t max_index_valid_days = 366;
constexpr std::int64_t day_ms = 24LL * 3600 * 1000;

}  // namespace

bool AttestConfig::is_service_account(std::string_view token_id) const {
    return std::find(service_accounts.begin(), service_accounts.end(), token_id) != service_accounts.end();
}

std::string RegistryConfig::signer(std::string_view key_id) const {
    if (!attest.name.empty()) return attest.name;
    return server.public_url.empty() ? "urn:wheelyard:registry:" + std::string(key_id) : server.public_url;
}

AttestConfig read_attest(io::TomlTable table) {
    AttestConfig attest;
    attest.key = table.path_if("key").value_or("");
    attest.name = table.string_or("signer", "");
    if (!attest.name.empty() && attest.name.find(':') == std::string::npos)
        table.report("signer", "must be a URI like https://wheels.example.org");
    attest.history = table.integer_or("history", 1, 1, max_history);
    attest.index_valid_ms =
        table.integer_or("index_valid_days", index_valid_days, 1, max_index_valid_days) * day_ms;
    attest.service_accounts = table.strings_or("service_accounts", {});
    attest.trusted_root = table.path_if("trusted_root").value_or("");
    if (attest.key.empty() && !(attest.name.empty() && attest.service_accounts.empty()))
        table.report("key", "nothing is signed without a key: `wheelyard-registry attest init` makes one");
    return attest;
}

std::vector<AttestedBy> read_attested_by(io::TomlTable& index) {
    std::vector<AttestedBy> origins;
    for (io::TomlTable& table : index.tables("attested_by")) {
        AttestedBy origin;
        origin.projects = table.has("projects") ? read_projects(table) : std::vector<std::string>{"*"};
        origin.agents = table.strings_or("agents", {});
        origin.issuer = table.string_or("issuer", "");
        origin.subject = table.string_or("subject", "");
        origin.repository = table.string_or("repository", "");
        origin.workflow = table.string_or("workflow", "");
        const bool names_publisher =
            !origin.issuer.empty() && !(origin.subject.empty() && origin.repository.empty());
        const bool has_claims =
            !(origin.issuer + origin.subject + origin.repository + origin.workflow).empty();
        if (origin.agents.empty() ? !names_publisher : has_claims)
            table.report("issuer",
                         "names the agents, or a publisher by its issuer and a repository or a subject");
        if (const std::size_t star = origin.subject.find('*');
            star != std::string::npos &&
            (star + 1 != origin.subject.size() || origin.subject.find("@refs/") == std::string::npos))
            table.report("subject",
                         "is an exact text; only its ref may end in `*`: \"…/release.yml@refs/tags/*\"");
        if (!origin.workflow.empty() && origin.repository.empty())
            table.report("workflow", "is a file of the repository, which is not named");
        origins.push_back(std::move(origin));
    }
    return origins;
}

}  // namespace wheelyard::registry
