#include "registry/commands/dump.hpp"

#include <doctest/doctest.h>

#include "lib/base/clock.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/commands/init.hpp"
#include "registry/commands/token.hpp"

using namespace wheelyard;

TEST_CASE("a dump needs a catalog") {
    const base::TempDir dir = base::TempDir::make("dump").value();
    const std::filesystem::path config = dir.path() / "farm" / "registry.toml";
    const base::ManualClock clock{1'795'000'000'000'000};
    REQUIRE(registry::run_init(dir.path() / "farm"));
    CHECK(registry::run_dump(config).error().code == "catalog.missing");
    REQUIRE(registry::run_token_create({.config = config, .name = "agent", .indexes = {"main"}}, clock));
    CHECK(registry::run_dump(config).has_value());
}
