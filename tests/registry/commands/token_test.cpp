// `wheelyard-registry token` and `agent`, by their command lines. What a token may be is tested in access/
// and api/.
#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/store.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;
using Words = std::vector<std::string>;

namespace {

constexpr base::UnixMicros start = 1'795'000'000'000'000;
constexpr registry::CommandGroup token_groups[] = {{"All", "token", "tokens", ""},
                                                   {"All", "agent", "agents", ""}};

base::Result<registry::PublishFunction> no_publisher(const registry::ConfigView&, const database::Store&,
                                                     const blobs::BlobStore&) {
    return [](registry::RootPages) -> base::Result<registry::Published> {
        return registry::Published{catalog::Serial{0}};
    };
}

struct Fixture {
    base::TempDir dir = base::TempDir::make("commands").value();
    std::filesystem::path config = dir.path() / "farm" / "registry.toml";
    base::ManualClock clock{start};
    Fixture() { REQUIRE(registry::run_init(dir.path() / "farm")); }

    // The code of the error; empty: it ran.
    std::string run(Words words) {
        CLI::App app("a program", "program");
        const auto added = registry::add_commands(app, token_groups, registry::token_commands());
        words.insert(words.end(), {"-c", config.native()});
        std::reverse(words.begin(), words.end());
        app.parse(words);
        const auto ended = registry::run_parsed(added, {.open_publisher = no_publisher, .clock = clock});
        return ended ? std::string() : ended.error().code;
    }
    std::string create(const Words& more) {
        Words words{"token", "create", "--name", "agent", "--index", "main"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
    [[nodiscard]] std::vector<catalog::TokenRow> tokens() const {
        return database::Store(registry::read_config(config)->store).reader().value()->tokens().value();
    }
};

}  // namespace

TEST_CASE("a token is made with the least that was asked for") {
    Fixture fixture;
    REQUIRE(fixture.create({"--project", "Foo_Bar", "--project", "six", "--expires", "90d"}).empty());
    REQUIRE(fixture.create({"--json"}).empty());
    auto tokens = fixture.tokens();
    REQUIRE(tokens.size() == 2);
    if (tokens[0].expires == 0) std::swap(tokens[0], tokens[1]);  // they are in the order of random IDs
    CHECK(tokens[0].name == "agent");
    CHECK(tokens[0].indexes == Words{"main"});
    CHECK(tokens[0].projects == Words{"foo-bar", "six"});
    CHECK(tokens[0].actions == Words{"upload"});
    CHECK(tokens[0].created == start);
    CHECK(tokens[0].expires == start + 90ll * 24 * 3600 * 1'000'000);
    CHECK(tokens[1].projects == Words{"*"});
    CHECK(tokens[1].expires == 0);
}

TEST_CASE("a token that cannot be meant is refused, and none is made") {
    Fixture fixture;
    CHECK(fixture.create({"--action", "burn"}) == "token.unknown_action");
    CHECK(fixture.create({"--project", "../six"}) == "token.project");
    CHECK(fixture.create({"--expires", "soon"}) == "token.lifetime");
    CHECK(fixture.run({"token", "create", "--name", "", "--index", "main"}) == "token.name");
    CHECK(fixture.run({"token", "create", "--name", "a", "--index", "mian"}) == "token.unknown_index");
    CHECK_THROWS_AS(static_cast<void>(fixture.run({"token", "create", "--name", "a"})), CLI::RequiredError);
    CHECK(fixture.tokens().empty());
}

TEST_CASE("a token goes into a new file that its owner alone reads, and where there is one none is made") {
    Fixture fixture;
    const std::filesystem::path file = fixture.dir.path() / "agent.token";
    CHECK(fixture.create({"--expires", "soon", "--to", file.native()}) == "token.lifetime");
    CHECK_FALSE(std::filesystem::exists(file));  // so that a second try can create it
    REQUIRE(fixture.create({"--to", file.native()}).empty());
    const std::string written = base::read_file(file, 1 << 10).value();
    REQUIRE(fixture.tokens().size() == 1);
    CHECK(written.starts_with(fixture.tokens()[0].id + "_"));
    CHECK(written.ends_with("\n"));
    using std::filesystem::perms;
    CHECK(std::filesystem::status(file).permissions() == (perms::owner_read | perms::owner_write));
    CHECK(fixture.create({"--to", file.native()}) == "token.exists");
    CHECK(fixture.tokens().size() == 1);
    CHECK(base::read_file(file, 1 << 10).value() == written);
}

TEST_CASE("revoking takes the id or the whole text") {
    Fixture fixture;
    REQUIRE(fixture.create({}).empty());
    REQUIRE(fixture.create({}).empty());
    const auto tokens = fixture.tokens();
    CHECK(fixture.run({"token", "revoke", tokens[0].id}).empty());
    CHECK(fixture.run({"token", "revoke", tokens[1].id + "_" + std::string(64, '0')}).empty());
    for (const auto& token : fixture.tokens())
        CHECK(token.revoked);
}

TEST_CASE("an agent enrols with no action by which it could make tokens, and with no operator's") {
    Fixture fixture;
    const auto enrol = [&fixture](const Words& actions) {
        Words words{"agent", "enrol", "bede", "--index", "main"};
        for (const std::string& action : actions)
            words.insert(words.end(), {"--action", action});
        return fixture.run(words);
    };
    for (const Words& actions : {Words{"token"},
                                 {"upload", "token"},
                                 {"*"},
                                 {"build", "*"},
                                 {"index"},
                                 {"build", "gc"},
                                 {"audit"},
                                 {"upload", "approve"}})
        CHECK(enrol(actions) == "agent.action");
    CHECK(enrol({"upload", "build", "read"}).empty());
    CHECK(fixture.tokens().size() == 1);
}
