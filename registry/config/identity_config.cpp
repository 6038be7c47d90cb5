#include "registry/config/identity_config.hpp"

#include <algorithm>
#include <cstdint>

#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "registry/catalog/token_actions.hpp"
#include "registry/config/config.hpp"
#include "registry/config/limits.hpp"
#include "registry/config/upstream_config.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t default_reading_days = 7;  // jobs start days after their log-in
constexpr std::int64_t max_reading_days = 90;
constexpr std::int64_t default_publishing_minutes = 15;
constexpr std::int64_t max_publishing_minutes = 24 * 60;

constexpr std::int64_t day_s = 24 * 3600;

AllowRule read_rule(io::TomlTable& table) {
    AllowRule rule;
    rule.group = table.string_or("group", "");
    const bool is_for_everyone = table.boolean_or("everyone", false);
    if (rule.group.empty() != is_for_everyone)
        table.report("group", "a rule is for a `group`, or for everyone with `everyone = true`");
    rule.indexes = table.strings_or("indexes", {});
    for (const std::string& name : rule.indexes) {
        if (const std::string fault = name == "*" ? std::string() : index_name_fault(name); !fault.empty())
            table.report("indexes", fault);
    }
    if (rule.indexes.empty()) table.report("indexes", "names the indexes, or \"*\" for all");
    rule.projects = read_projects(table);
    rule.actions = table.strings_or("actions", {});
    for (const std::string& action : rule.actions) {
        const auto& known = catalog::token_actions();
        if (std::find(known.begin(), known.end(), action) == known.end())
            table.report("actions",
                         "`" + action + "` is no action of tokens; known: " + base::join(known, ", "));
    }
    if (rule.actions.empty()) table.report("actions", "names what the group may do, such as \"read\"");
    return rule;
}

IdentityConfig read_identity(io::TomlTable& table) {
    IdentityConfig identity;
    identity.name = table.string("name");
    if (const std::string fault = index_name_fault(identity.name); !identity.name.empty() && !fault.empty())
        table.report("name", "an identity is named like an index: " + fault);
    if (identity.name.size() > max_identity_name)
        table.report("name", "has at most " + std::to_string(max_identity_name) + " characters");
    identity.title = table.string_or("title", "");
    identity.provider = read_provider(table);
    identity.provider.client_id = table.string("client_id");
    identity.client_secret_file = table.path_if("client_secret_file").value_or("");
    const std::vector<std::string> scopes = table.strings_or("scopes", {"openid", "profile"});
    if (std::find(scopes.begin(), scopes.end(), "openid") == scopes.end())
        table.report("scopes", "has no \"openid\", without which there is no ID token");
    identity.scopes = base::join(scopes, " ");
    identity.groups_claim = table.string_or("groups_claim", "groups");
    identity.reading_s = table.integer_or("reading_days", default_reading_days, 1, max_reading_days) * day_s;
    identity.publishing_s =
        table.integer_or("publishing_minutes", default_publishing_minutes, 1, max_publishing_minutes) * 60;
    for (io::TomlTable& rule : table.tables("allow"))
        identity.allow.push_back(read_rule(rule));
    if (identity.allow.empty()) table.report("", "has no [[identity.allow]], so nobody could do anything");
    return identity;
}

}  // namespace

bool is_reading_action(std::string_view action) {
    return action == "read" || action == "task";
}

identity::ProviderRules read_provider(io::TomlTable& table) {
    identity::ProviderRules provider;
    provider.allow_http = table.boolean_or("allow_http", false);
    provider.allow_private = table.boolean_or("allow_private", provider.allow_http);
    provider.hosts = read_hosts(table, "hosts");
    provider.issuer = table.string("issuer");
    if (provider.issuer.empty()) return provider;  // reported
    if (const auto good = identity::check_address(provider, provider.issuer); !good)
        table.report("issuer",
                     "must be the URL that the provider calls itself, over https: " + good.error().text());
    return provider;
}

std::vector<std::string> read_projects(io::TomlTable& table) {
    std::vector<std::string> projects;
    for (const std::string& text : table.strings_or("projects", {"*"})) {
        if (text != "*" && !wheel::is_valid_name(text))
            table.report("projects", "`" + text + "` cannot be the name of a project");
        projects.push_back(text == "*" ? text : wheel::normalize_name(text));
    }
    if (projects.empty()) table.report("projects", "is empty; \"*\" means all projects");
    return projects;
}

std::vector<IdentityConfig> read_identities(io::TomlTable& root, const std::string& public_url) {
    std::vector<IdentityConfig> identities;
    for (io::TomlTable& table : root.tables("identity")) {
        IdentityConfig identity = read_identity(table);
        if (public_url.empty())
            table.report("", "needs `public_url` in [server]: the provider sends browsers back there");
        if (std::any_of(identities.begin(), identities.end(), [&](const IdentityConfig& other) {
                return other.name == identity.name || other.provider.issuer == identity.provider.issuer;
            }))
            table.report("name", "another [[identity]] has this name or issuer");
        identities.push_back(std::move(identity));
    }
    return identities;
}

}  // namespace wheelyard::registry
