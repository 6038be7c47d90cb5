// Which site file a command without --site uses.
#include "builder/site/site_file.hpp"

#include <doctest/doctest.h>

#include "builder/site/site.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("the variable comes before the folder's site.toml, and that before the last `site init`") {
    const base::TempDir folder = *base::TempDir::make("site-file");
    std::map<std::string, std::string> environment{{"HOME", folder.path().string()}};
    const auto here = folder.path() / "here", other = folder.path() / "other.toml";
    base::fs::create_directories(here);
    CHECK(choose_site_file(environment, here).error().code == "site.no_file");
    testing::must(remember_site_file(environment, other));
    CHECK(!choose_site_file(environment, here).has_value());  // it was removed
    testing::write(other, "x");
    const auto remembered = choose_site_file(environment, here);
    REQUIRE(remembered.has_value());
    CHECK(remembered->file == other);
    CHECK(remembered->is_remembered);
    testing::write(here / "site.toml", "x");
    const auto local = choose_site_file(environment, here);
    REQUIRE(local.has_value());
    CHECK(local->file == "site.toml");
    CHECK(!local->is_remembered);
    environment["WHEELYARD_BUILDER_SITE"] = "/named.toml";
    CHECK(choose_site_file(environment, here)->file == "/named.toml");
}

TEST_CASE("the variable and the file of avail_wheels are refused by name") {
    const base::TempDir folder = *base::TempDir::make("site-file");
    const auto nothing =
        choose_site_file({{"WHEELYARD_SITE", "/etc/wheelyard/avail_wheels.toml"}}, folder.path());
    REQUIRE(!nothing.has_value());
    CHECK(nothing.error().advice.find("WHEELYARD_SITE names the file of avail_wheels") != std::string::npos);
    const auto read =
        parse_site("config_version = 1\nindex_url = \"https://w.example/simple/\"\n", "/a.toml");
    REQUIRE(!read.has_value());
    CHECK(read.error().sentence.find("avail_wheels") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
