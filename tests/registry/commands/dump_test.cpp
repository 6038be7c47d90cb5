// `wheelyard-registry dump`
#include "registry/commands/commands.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/store.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;

TEST_CASE("a dump needs a catalog") {
    const base::TempDir dir = base::TempDir::make("dump").value();
    const std::filesystem::path config = dir.path() / "farm" / "registry.toml";
    REQUIRE(registry::run_init(dir.path() / "farm"));
    CHECK(registry::run_dump(config).error().code == "catalog.missing");
    const auto place = registry::read_config(config)->database();
    REQUIRE(base::make_directories(place.folder));
    REQUIRE(database::Store(place).writer().has_value());
    CHECK(registry::run_dump(config).has_value());
}
