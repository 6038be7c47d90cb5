#include "registry/config/identity_config.hpp"

#include <algorithm>
#include <cstdint>

#include "lib/base/text/text.hpp"
#include "lib/store/catalog/token_actions.hpp"
#include "lib/wheel/name.hpp"
#include "registry/config/config_rows.hpp"
#include "registry/config/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t max_reading_days = 90;
constexpr std::int64_t max_publishing_minutes = 24 * 60;

constexpr std::int64_t day_s = 24 * 3600;

io::TomlRow<IdentityConfig> allow_row() {
    using R = AllowRule;
    using io::key;
    const auto index_fault = [](const std::string& name) {
        return name == "*" ? std::string() : index_name_fault(name);
    };
    io::TomlRows<R> rows{
        key("group", &R::group).sample(R"("/hpc")"),
        {{.type = "boolean", .fallback = "false", .sample = "false", .name = "everyone"},
         [](io::TomlTable& table, const io::TomlFacts&, R& rule) {
             if (rule.group.empty() != table.boolean_or("everyone", false))
                 table.report("group", "a rule is for a `group`, or for everyone with `everyone = true`");
             return table.has("everyone");
         }},
        key("indexes", &R::indexes, {.if_empty = "names the indexes, or \"*\" for all", .check = index_fault})
            .sample(R"(["*"])"),
        key("projects", &R::projects, projects_facts()),
        key("actions", &R::actions,
            {.type = "list",
             .if_empty = "names what the group may do, such as \"read\"",
             .choices = catalog::token_actions()})
            .sample(R"(["read", "task"])"),
    };
    return io::table("allow", &IdentityConfig::allow, std::move(rows),
                     {.hint = "What a group may do; of several rules that fit a person the first decides. "
                              "`everyone = true` instead of `group`."});
}

bool read_scopes(io::TomlTable& table, const io::TomlFacts&, std::string& scopes) {
    const std::vector<std::string> given = table.strings_or("scopes", {"openid", "profile"});
    if (std::find(given.begin(), given.end(), "openid") == given.end())
        table.report("scopes", "has no \"openid\", without which there is no ID token");
    scopes = base::join(given, " ");
    return table.has("scopes");
}

std::string show_scopes(const io::TomlFacts&, const std::string& scopes) {
    const auto words = base::split(scopes, ' ');
    return io::show_texts({words.begin(), words.end()});
}

std::string identity_name_fault(const std::string& name) {
    const std::string fault = must_be_name("an identity")(name);
    if (!fault.empty() || name.size() <= max_identity_name) return fault;
    return "has at most " + std::to_string(max_identity_name) + " characters";
}

void check_identity(io::TomlTable& table, IdentityConfig& identity, RegistryConfig& config) {
    check_provider(table, identity.provider);
    if (identity.allow.empty()) table.report("", "has no [[identity.allow]], so nobody could do anything");
    if (config.server.public_url.empty())
        table.report("", "needs `public_url` in [server]: the provider sends browsers back there");
    const auto& others = config.identities;
    if (std::any_of(others.begin(), others.end(), [&](const IdentityConfig& other) {
            return other.name == identity.name || other.provider.issuer == identity.provider.issuer;
        }))
        table.report("name", "another [[identity]] has this name or issuer");
}

}  // namespace

bool is_reading_action(std::string_view action) {
    return action == "read" || action == "task";
}

io::TomlRows<identity::ProviderRules> provider_rows(std::string issuer_sample) {
    using P = identity::ProviderRules;
    using io::key;
    return {
        key("issuer", &P::issuer, {.type = "URL", .is_required = true}).sample(std::move(issuer_sample)),
        key("hosts", &P::hosts, hosts_facts()).hint("more hosts that the provider's addresses are on"),
        key("allow_private", &P::allow_private, {.fallback = "`allow_http`"})
            .hint("true: the provider has an address inside the site"),
        key("allow_http", &P::allow_http).hint("true: also over http, for tests"),
    };
}

void check_provider(io::TomlTable& table, identity::ProviderRules& provider) {
    if (!table.has("allow_private")) provider.allow_private = provider.allow_http;
    if (provider.issuer.empty()) return;  // reported
    if (const auto good = identity::check_address(provider, provider.issuer); !good)
        table.report("issuer",
                     "must be the URL that the provider calls itself, over https: " + good.error().text());
}

io::TomlFacts projects_facts(std::string if_empty) {
    return {
        .if_empty = std::move(if_empty),
        .check = io::must([](const std::string& text) { return text == "*" || wheel::is_valid_name(text); },
                          "the name of a project, or `*`"),
        .normal = [](const std::string& text) { return text == "*" ? text : wheel::normalize_name(text); }};
}

io::TomlRow<RegistryConfig> identity_row() {
    using I = IdentityConfig;
    using io::key;
    io::TomlRows<I> rows{
        key("name", &I::name, {.is_required = true, .check = identity_name_fault}).sample(R"("campus")"),
        key("title", &I::title, {.fallback = "the name"}).sample(R"("University account")"),
    };
    rows.add(io::within(&I::provider, provider_rows(R"("https://idp.example.org/realms/campus")")));
    rows.add(
        io::within(&I::provider, {key("client_id", &identity::ProviderRules::client_id, {.is_required = true})
                                      .sample(R"("wheelyard")")}));
    rows.add({
        key("client_secret_file", &I::client_secret_file)
            .hint("without it the client is a public one", R"("secrets/campus")"),
        io::key_read_by("scopes", &I::scopes, {.type = "list"}, read_scopes, show_scopes),
        key("groups_claim", &I::groups_claim),
        key("reading_days", &I::reading_s, {.range = {1, max_reading_days}, .unit = day_s})
            .hint("life of a token for reading and requests"),
        key("publishing_minutes", &I::publishing_s, {.range = {1, max_publishing_minutes}, .unit = 60})
            .hint("life of a token for anything else"),
        allow_row(),
    });
    return io::table("identity", &RegistryConfig::identities, std::move(rows),
                     {.hint = "People log in by a provider of OpenID Connect (Keycloak, GitLab, Entra ID …). "
                              "See docs/how-to/log-in.md."},
                     check_identity);
}

}  // namespace wheelyard::registry
