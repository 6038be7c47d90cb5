// Temporary folders and their removal.
#include "lib/base/files/temp_dir.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"

using namespace wheelyard::base;

TEST_CASE("a temporary folder is private and removed with its content by its owner") {
    fs::path path;
    {
        const auto dir = TempDir::make("wheelyard-test").value();
        path = dir.path();
        CHECK(path.filename().native().starts_with("wheelyard-test-"));
        CHECK(fs::status(path).permissions() == fs::perms::owner_all);
        REQUIRE(make_directories(path / "a/b"));
        REQUIRE(replace_file(path / "a/b/f", "x"));
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a temporary folder that is kept stays when its owner ends") {
    const auto parent = TempDir::make("wheelyard-test").value();
    fs::path path;
    {
        auto dir = TempDir::make("kept", parent.path()).value();
        path = dir.path();
        dir.keep();
    }
    CHECK(fs::exists(path));
}

TEST_CASE("a tree that a build left read-only is removed too") {
    fs::path path;
    {
        const auto dir = TempDir::make("wheelyard-test").value();
        path = dir.path();
        REQUIRE(make_directories(path / "a/b"));
        REQUIRE(replace_file(path / "a/b/f", "x"));
        fs::permissions(path / "a/b", fs::perms::owner_read | fs::perms::owner_exec);
        fs::permissions(path / "a", fs::perms::none);
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("moving a temporary folder moves the responsibility to remove it") {
    auto first = TempDir::make("wheelyard-test").value();
    const auto first_path = first.path();
    TempDir second(std::move(first));
    CHECK(fs::exists(first_path));
    auto third = TempDir::make("wheelyard-test", second.path()).value();
    const auto third_path = third.path();
    CHECK(third_path.parent_path() == first_path);
    third = TempDir::make("wheelyard-test").value();
    CHECK_FALSE(fs::exists(third_path));
    CHECK(fs::exists(third.path()));
}

TEST_CASE("a folder that cannot be created is an error") {
    CHECK(TempDir::make("x", "/absent/parent").error().code == "os.ENOENT");
}
