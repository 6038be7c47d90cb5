#include "registry/config/publisher_config.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "registry/config/config.hpp"
#include "registry/config/limits.hpp"
#include "registry/config/upstream_config.hpp"

namespace wheelyard::registry {
namespace {

// Anybody has tokens of these issuers: one of the claims must say whose they are. `job_workflow_ref` and
// `ci_config_ref_uri` do not: another project may run the same file.
struct OpenIssuer {
    std::string_view issuer;
    std::string_view claims;
};
constexpr std::array open_issuers{
    OpenIssuer{"https://token.actions.githubusercontent.com",
               "repository repository_id repository_owner_id workflow_ref sub"},
    OpenIssuer{"https://gitlab.com", "project_path project_id namespace_id sub"},
};

void check_claims(io::TomlTable& table, const PublisherConfig& publisher) {
    if (publisher.claims.empty())
        table.report("claims", "says what a token must claim, such as { repository = \"octo-org/tool\" }");
    for (const auto& [claim, value] : publisher.claims) {
        const std::size_t star = value.find('*');
        const bool is_good = star == std::string::npos ||
                             (star + 1 == value.size() && value.find("refs/") != std::string::npos);
        if (value.empty() || !is_good)
            table.report("claims", "`" + claim +
                                       "` is an exact text; only a ref may end in `*`, such as "
                                       "\"refs/tags/*\"");
    }
    const auto* const open =
        std::find_if(open_issuers.begin(), open_issuers.end(),
                     [&](const OpenIssuer& one) { return one.issuer == publisher.provider.issuer; });
    if (open == open_issuers.end()) return;
    const auto names = base::split(open->claims, ' ');
    const bool says_whose = std::any_of(
        publisher.claims.begin(), publisher.claims.end(),
        [&](const auto& claim) { return std::find(names.begin(), names.end(), claim.first) != names.end(); });
    if (!says_whose)
        table.report("claims", "everybody has tokens of this issuer: name one of " +
                                   base::replace_all(open->claims, " ", ", "));
}

bool says_the_same(identity::ProviderRules a, const identity::ProviderRules& b) {
    a.client_id = b.client_id;
    a.has_logins = b.has_logins;
    return a == b;
}

PublisherConfig read_publisher(io::TomlTable& table, const std::string& public_url) {
    PublisherConfig publisher;
    publisher.name = table.string("name");
    if (const std::string fault = index_name_fault(publisher.name); !publisher.name.empty() && !fault.empty())
        table.report("name", "a publisher is named like an index: " + fault);
    publisher.provider = read_provider(table);
    publisher.provider.has_logins = false;
    const auto url = base::parse_url(public_url);
    publisher.provider.client_id = table.string_or("audience", url ? url->host : std::string());
    if (publisher.provider.client_id.empty())
        table.report("audience",
                     "is needed without `public_url` in [server], whose host is the usual audience");
    publisher.index = table.string("index");
    if (const std::string fault = index_name_fault(publisher.index);
        !publisher.index.empty() && !fault.empty())
        table.report("index", fault);
    if (!table.has("projects")) table.report("projects", "names the projects that it may upload, or \"*\"");
    publisher.projects = read_projects(table);
    publisher.claims = table.string_map("claims");
    publisher.azp = table.string_or("azp", "");
    if (publisher.azp.empty() && table.has("azp"))
        table.report("azp", "is the client of the service account, as its tokens name it, such as \"ci\"");
    publisher.pull_requests = table.boolean_or("pull_requests", false);
    check_claims(table, publisher);
    return publisher;
}

}  // namespace

std::vector<PublisherConfig> read_publishers(io::TomlTable& root, const std::string& public_url,
                                             const std::vector<IdentityConfig>& identities) {
    std::vector<PublisherConfig> publishers;
    for (io::TomlTable& table : root.tables("publisher")) {
        PublisherConfig publisher = read_publisher(table, public_url);
        const identity::ProviderRules& own = publisher.provider;
        const bool differs =
            std::any_of(publishers.begin(), publishers.end(),
                        [&](const PublisherConfig& other) {
                            return other.provider.issuer == own.issuer && !(other.provider == own);
                        }) ||
            std::any_of(identities.begin(), identities.end(), [&](const IdentityConfig& other) {
                return other.provider.issuer == own.issuer && !says_the_same(other.provider, own);
            });
        if (differs)
            table.report("issuer",
                         "another table has this issuer with other hosts, another audience or other allow_…");
        if (std::any_of(publishers.begin(), publishers.end(),
                        [&](const PublisherConfig& other) { return other.name == publisher.name; }))
            table.report("name", "another [[publisher]] has this name");
        publishers.push_back(std::move(publisher));
    }
    return publishers;
}

}  // namespace wheelyard::registry
