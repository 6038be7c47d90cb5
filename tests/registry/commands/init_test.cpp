// `wheelyard-registry init`
#include "registry/commands/commands.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;

TEST_CASE("init writes a configuration that works, and never writes over one") {
    const base::TempDir dir = base::TempDir::make("init").value();
    const std::filesystem::path config = dir.path() / "farm" / "registry.toml";
    REQUIRE(registry::run_init(dir.path() / "farm"));
    CHECK(registry::read_config(config).has_value());
    const auto again = registry::run_init(dir.path() / "farm");
    REQUIRE_FALSE(again.has_value());
    CHECK(again.error().code == "init.exists");
    CHECK(base::read_file(config, 1 << 20).value() == registry::config_template());
}
