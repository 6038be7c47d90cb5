#include "registry/commands/token.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commands/init.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"

using namespace wheelyard;

namespace {

constexpr base::UnixMicros start = 1'795'000'000'000'000;

struct Fixture {
    base::TempDir dir = base::TempDir::make("commands").value();
    std::filesystem::path config = dir.path() / "farm" / "registry.toml";
    base::ManualClock clock{start};
    Fixture() { REQUIRE(registry::run_init(dir.path() / "farm")); }

    [[nodiscard]] registry::TokenCreateArguments token() const {
        return {.config = config, .name = "agent", .indexes = {"main"}, .json = true};
    }
    [[nodiscard]] std::vector<catalog::TokenRow> tokens() const {
        return database::Store(registry::read_config(config)->store).reader().value()->tokens().value();
    }
};

}  // namespace

TEST_CASE("a token is made with the least that was asked for") {
    Fixture fixture;
    auto arguments = fixture.token();
    arguments.projects = {"Foo_Bar", "six"};
    arguments.expires = "90d";
    REQUIRE(registry::run_token_create(arguments, fixture.clock));
    const auto tokens = fixture.tokens();
    REQUIRE(tokens.size() == 1);
    CHECK(tokens[0].name == "agent");
    CHECK(tokens[0].indexes == std::vector<std::string>{"main"});
    CHECK(tokens[0].projects == std::vector<std::string>{"foo-bar", "six"});
    CHECK(tokens[0].actions == std::vector<std::string>{"upload"});
    CHECK(tokens[0].created == start);
    CHECK(tokens[0].expires == start + 90ll * 24 * 3600 * 1'000'000);
}

TEST_CASE("without projects a token is for all, without a lifetime for ever") {
    Fixture fixture;
    REQUIRE(registry::run_token_create(fixture.token(), fixture.clock));
    CHECK(fixture.tokens()[0].projects == std::vector<std::string>{"*"});
    CHECK(fixture.tokens()[0].expires == 0);
}

TEST_CASE("a token that cannot be meant is refused, and none is made") {
    struct Row {
        const char* code;
        void (*change)(registry::TokenCreateArguments&);
    };
    const Row rows[] = {
        {"token.name", [](auto& a) { a.name = ""; }},
        {"token.name", [](auto& a) { a.name = "two\nlines"; }},
        {"token.name", [](auto& a) { a.name = std::string(121, 'x'); }},
        {"token.no_index", [](auto& a) { a.indexes = {}; }},
        {"token.unknown_index", [](auto& a) { a.indexes = {"mian"}; }},
        {"token.unknown_action", [](auto& a) { a.actions = {"burn"}; }},
        {"token.project", [](auto& a) { a.projects = {"../six"}; }},
        {"token.lifetime", [](auto& a) { a.expires = "soon"; }},
        {"config.missing", [](auto& a) { a.config = "/nowhere/registry.toml"; }},
    };
    Fixture fixture;
    REQUIRE(registry::run_token_create(fixture.token(), fixture.clock));
    for (const Row& row : rows) {
        CAPTURE(row.code);
        auto arguments = fixture.token();
        row.change(arguments);
        const auto made = registry::run_token_create(arguments, fixture.clock);
        REQUIRE_FALSE(made.has_value());
        CHECK(made.error().code == row.code);
    }
    CHECK(fixture.tokens().size() == 1);
}

TEST_CASE("a token goes into a new file that its owner alone reads, and where there is one none is made") {
    Fixture fixture;
    auto arguments = fixture.token();
    arguments.json = false;
    arguments.to = fixture.dir.path() / "agent.token";
    REQUIRE(registry::run_token_create(arguments, fixture.clock));
    const std::string written = base::read_file(arguments.to, 1 << 10).value();
    REQUIRE(fixture.tokens().size() == 1);
    CHECK(written.starts_with(fixture.tokens()[0].id + "_"));
    CHECK(written.ends_with("\n"));
    using std::filesystem::perms;
    CHECK(std::filesystem::status(arguments.to).permissions() == (perms::owner_read | perms::owner_write));
    const auto again = registry::run_token_create(arguments, fixture.clock);
    REQUIRE_FALSE(again.has_value());
    CHECK(again.error().code == "token.exists");
    CHECK(fixture.tokens().size() == 1);
    CHECK(base::read_file(arguments.to, 1 << 10).value() == written);
}

TEST_CASE("a misspelt index gets the near one as advice") {
    Fixture fixture;
    auto arguments = fixture.token();
    arguments.indexes = {"mian"};
    CHECK(registry::run_token_create(arguments, fixture.clock).error().advice == "did you mean main?");
}

TEST_CASE("revoking takes the id or the whole text, and says when there is no such token") {
    Fixture fixture;
    REQUIRE(registry::run_token_create(fixture.token(), fixture.clock));
    REQUIRE(registry::run_token_create(fixture.token(), fixture.clock));
    const auto tokens = fixture.tokens();
    CHECK(registry::run_token_revoke(fixture.config, tokens[0].id, fixture.clock).has_value());
    CHECK(registry::run_token_revoke(fixture.config, tokens[1].id + "_" + std::string(64, '0'), fixture.clock)
              .has_value());
    for (const auto& token : fixture.tokens())
        CHECK(token.revoked);
    const auto unknown = registry::run_token_revoke(fixture.config, "wy_000000000000", fixture.clock);
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().code == "token.unknown");
    CHECK(registry::run_token_list(fixture.config, true, fixture.clock).has_value());
    CHECK(registry::run_token_list(fixture.config, false, fixture.clock).has_value());
}

TEST_CASE("an agent enrols with no action by which it could make tokens, and with no operator's") {
    Fixture fixture;
    auto arguments = fixture.token();
    arguments.name = "bede";
    for (const std::vector<std::string>& actions : {std::vector<std::string>{"token"},
                                                    {"upload", "token"},
                                                    {"*"},
                                                    {"build", "*"},
                                                    {"index"},
                                                    {"build", "gc"},
                                                    {"audit"},
                                                    {"upload", "approve"}}) {
        arguments.actions = actions;
        const auto refused = registry::run_agent_enrol(arguments, fixture.clock);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code == "agent.action");
    }
    arguments.actions = {"upload", "build", "read"};
    CHECK(registry::run_agent_enrol(arguments, fixture.clock).has_value());
    CHECK(fixture.tokens().size() == 1);
}
