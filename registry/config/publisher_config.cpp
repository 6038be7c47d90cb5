#include "registry/config/publisher_config.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "registry/config/config_rows.hpp"

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

void check_publisher(io::TomlTable& table, PublisherConfig& publisher, RegistryConfig& config) {
    identity::ProviderRules& own = publisher.provider;
    own.has_logins = false;
    const auto url = base::parse_url(config.server.public_url);
    if (url && !table.has("audience")) own.client_id = url->host;
    if (own.client_id.empty())
        table.report("audience",
                     "is needed without `public_url` in [server], whose host is the usual audience");
    if (publisher.azp.empty() && table.has("azp"))
        table.report("azp", "is the client of the service account, as its tokens name it, such as \"ci\"");
    check_provider(table, own);
    check_claims(table, publisher);
    const auto& others = config.publishers;
    const bool differs =
        std::any_of(others.begin(), others.end(),
                    [&](const PublisherConfig& other) {
                        return other.provider.issuer == own.issuer && !(other.provider == own);
                    }) ||
        std::any_of(config.identities.begin(), config.identities.end(), [&](const IdentityConfig& other) {
            return other.provider.issuer == own.issuer && !says_the_same(other.provider, own);
        });
    if (differs)
        table.report("issuer",
                     "another table has this issuer with other hosts, another audience or other allow_…");
    if (std::any_of(others.begin(), others.end(),
                    [&](const PublisherConfig& other) { return other.name == publisher.name; }))
        table.report("name", "another [[publisher]] has this name");
}

}  // namespace

io::TomlRow<RegistryConfig> publisher_row() {
    using P = PublisherConfig;
    using io::key;
    io::TomlRows<P> rows{
        key("name", &P::name, {.is_required = true, .check = must_be_name("a publisher")})
            .sample(R"("tool")"),
    };
    rows.add(io::within(&P::provider, provider_rows(R"("https://token.actions.githubusercontent.com")")));
    rows.add(io::within(
        &P::provider,
        {key("audience", &identity::ProviderRules::client_id, {.fallback = "the host of `public_url`"})
             .hint("without it the host of public_url", R"("wheels.example.org")")}));
    rows.add({
        key("index", &P::index, {.is_required = true, .check = index_name_fault}).sample(R"("main")"),
        key("projects", &P::projects, projects_facts("names the projects that it may upload, or \"*\""))
            .sample(R"(["tool"])"),
        key("claims", &P::claims, {.fallback = "required"})
            .hint("exact texts; only a ref may end in *",
                  R"({ repository = "octo-org/tool", ref = "refs/tags/*" })"),
        key("azp", &P::azp,
            {.hint = "the client that asks for the tokens of a service account; without it they are for us "
                     "alone"})
            .sample(R"("ci")"),
        key("pull_requests", &P::pull_requests).hint("true: also jobs of pull requests and merge requests"),
    });
    return io::table(
        "publisher", &RegistryConfig::publishers, std::move(rows),
        {.hint = "Jobs of continuous integration upload with an identity token of their provider. "
                 "See docs/how-to/publish-from-ci.md."},
        check_publisher);
}

}  // namespace wheelyard::registry
