// Where the configuration is found without an option.
#include "registry/config/config_place.hpp"

#include <doctest/doctest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <thread>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using registry::find_config_file;

TEST_CASE("a variable decides, then this folder, then the system's") {
    const auto folder = *base::TempDir::make("wheelyard-config-place-test");
    const auto here = folder.path() / "here";
    const auto system = folder.path() / "etc";
    for (const auto& made : {here, system})
        std::filesystem::create_directory(made);
    CHECK(find_config_file({}, here, system).empty());
    REQUIRE(base::replace_file(system / "registry.toml", "x"));
    CHECK(find_config_file({}, here, system) == system / "registry.toml");
    REQUIRE(base::replace_file(here / "registry.toml", "x"));
    CHECK(find_config_file({}, here, system) == here / "registry.toml");
    CHECK(find_config_file({{"WHEELYARD_REGISTRY_CONFIG", "/a/b.toml"}}, here, system) == "/a/b.toml");
    CHECK(find_config_file({{"WHEELYARD_REGISTRY_CONFIG", ""}}, here, system) == here / "registry.toml");
}

TEST_CASE("a configuration that this user may not look for is named, not said to be missing") {
    const auto folder = *base::TempDir::make("wheelyard-config-place-test");
    const auto system = folder.path() / "etc";
    REQUIRE(::mkdir(system.c_str(), 0) == 0);
    constexpr uid_t nobody = 65534;
    std::thread([&] {  // whose user of the file system alone changes, where this is root
        ::setfsuid(nobody);
        CHECK(find_config_file({}, folder.path(), system) == system / "registry.toml");
    })
        .join();
}
