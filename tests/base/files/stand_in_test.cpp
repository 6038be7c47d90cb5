// Files that stand for bytes elsewhere.
#include "lib/base/files/file.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::base;

TEST_CASE("a stand-in is known by its mode, takes no room and replaces nothing") {
    const auto dir = TempDir::make("stand-in").value();
    REQUIRE(create_stand_in(dir.path() / "a", 1'000'000));
    CHECK(is_stand_in(dir.path() / "a"));
    CHECK(wheelyard::base::file_size(dir.path() / "a") == 1'000'000);
    CHECK(create_stand_in(dir.path() / "a", 1).error().os_error == EEXIST);
    CHECK(wheelyard::base::file_size(dir.path() / "a") == 1'000'000);
    REQUIRE(replace_file(dir.path() / "b", "x", 0444));
    CHECK_FALSE(is_stand_in(dir.path() / "b"));
    CHECK_FALSE(is_stand_in(dir.path() / "absent"));
    CHECK_FALSE(is_stand_in(dir.path()));
}
