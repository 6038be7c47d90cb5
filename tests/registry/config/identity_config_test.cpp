// [[identity]]: defaults, every complaint, and that its actions are those of tokens.
#include "registry/config/identity_config.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "lib/store/lifecycle/action.hpp"
#include "registry/access/tokens.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;

namespace {

const std::string beginning =
    "config_version = 1\n[server]\npublic_url = \"https://wheels.example.org\"\n[[index]]\nname = \"main\"\n";
const std::string campus =
    "[[identity]]\nname = \"campus\"\nissuer = \"https://idp.example.org/realms/campus\"\nclient_id = "
    "\"wheelyard\"\n";
const std::string rule = "[[identity.allow]]\ngroup = \"/hpc\"\nindexes = [\"main\"]\nactions = [\"read\"]\n";

base::Result<registry::RegistryConfig> read_text(const std::string& text) {
    return registry::parse_config(text, "/etc/wheelyard/registry.toml");
}

std::string complaint(const std::string& text) {
    const auto config = read_text(text);
    return config ? std::string() : config.error().text();
}

}  // namespace

TEST_CASE("an identity needs a name, an issuer, a client and a rule; the rest has its default") {
    const auto config = read_text(beginning + campus + rule);
    REQUIRE_MESSAGE(config.has_value(), config.error().text());
    REQUIRE(config->identities.size() == 1);
    const registry::IdentityConfig& identity = config->identities.front();
    CHECK(identity.shown() == "campus");
    CHECK(identity.scopes == "openid profile");
    CHECK(identity.groups_claim == "groups");
    CHECK(identity.reading_s == 7 * 24 * 3600);
    CHECK(identity.publishing_s == 15 * 60);
    CHECK_FALSE(identity.provider.allow_http);
    CHECK_FALSE(identity.provider.allow_private);
    CHECK(identity.allow.front() == registry::AllowRule{"/hpc", {"main"}, {"*"}, {"read"}});
    CHECK(read_text(beginning)->identities.empty());
}

TEST_CASE("complaints about an identity name what is wrong with it") {
    const auto with = [](const std::string& keys, const std::string& rules = rule) {
        return complaint(beginning + campus + keys + rules);
    };
    CHECK(with("", "").find("has no [[identity.allow]]") != std::string::npos);
    CHECK(with("scopes = [\"profile\"]\n").find("openid") != std::string::npos);
    CHECK(with("reading_days = 0\n").find("reading_days") != std::string::npos);
    CHECK(with("hosts = [\"https://a\"]\n").find("expected the name of a host") != std::string::npos);
    CHECK(with("issuers = 1\n").find("issuers") != std::string::npos);
    const auto with_rule = [&](const std::string& keys) { return with("", "[[identity.allow]]\n" + keys); };
    CHECK(with_rule("indexes = [\"main\"]\nactions = [\"read\"]\n").find("everyone = true") !=
          std::string::npos);
    CHECK(with_rule("group = \"a\"\neveryone = true\nindexes = [\"main\"]\nactions = [\"read\"]\n")
              .find("everyone") != std::string::npos);
    CHECK(with_rule("group = \"a\"\nactions = [\"read\"]\n").find("names the indexes") != std::string::npos);
    CHECK(with_rule("group = \"a\"\nindexes = [\"main\"]\n").find("names what the group may do") !=
          std::string::npos);
    CHECK(with_rule("group = \"a\"\nindexes = [\"main\"]\nactions = [\"reed\"]\n").find("found `reed`") !=
          std::string::npos);
    CHECK(with_rule("group = \"a\"\nindexes = [\"main\"]\nprojects = [\"a b\"]\nactions = [\"read\"]\n")
              .find("a b") != std::string::npos);
}

TEST_CASE("an issuer is https, unless the file permits http, and each is configured once") {
    std::string plain = campus;
    plain.replace(plain.find("https"), 5, "http");
    CHECK(complaint(beginning + plain + rule).find("not https") != std::string::npos);
    const auto permitted = read_text(beginning + plain + "allow_http = true\n" + rule);
    REQUIRE_MESSAGE(permitted.has_value(), permitted.error().text());
    CHECK(permitted->identities.front().provider.allow_private);
    CHECK(complaint(beginning + campus + rule + campus + rule).find("another [[identity]]") !=
          std::string::npos);
}

TEST_CASE("log-in needs the address at which browsers come back") {
    CHECK(complaint("config_version = 1\n[[index]]\nname = \"main\"\n" + campus + rule).find("public_url") !=
          std::string::npos);
}

TEST_CASE("what changes files needs an action that tokens may have") {
    const std::vector<std::string>& actions = registry::token_actions();
    for (const lifecycle::VerbRow& row : lifecycle::verbs())
        CHECK(std::count(actions.begin(), actions.end(), row.scope) == 1);
}
