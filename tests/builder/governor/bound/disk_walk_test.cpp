// Sizes as stat(2) reports them.
#include "builder/governor/bound/bound.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::governor;
namespace base = wheelyard::base;
namespace fs = std::filesystem;

namespace {

std::uint64_t on_disk(const fs::path& path) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

}  // namespace

TEST_CASE("a walk counts a file with two names once, follows no link, and goes on where its slice ended") {
    const auto folder = *base::TempDir::make("walk");
    const auto other = *base::TempDir::make("walk");
    const fs::path root = folder.path();
    REQUIRE(base::make_directories(root / "a/b").has_value());
    REQUIRE(base::replace_file(root / "a/b/file", std::string(200'000, 'x')).has_value());
    REQUIRE(base::replace_file(other.path() / "large", std::string(900'000, 'x')).has_value());
    fs::create_hard_link(root / "a/b/file", root / "again");
    fs::create_directory_symlink(other.path(), root / "link");
    for (int number = 0; number < 500; ++number)
        std::ofstream(root / ("f" + std::to_string(number)));
    DiskWalk walk(root);
    int slices = 1;
    while (!walk.advance(0))
        ++slices;
    CHECK(slices > 1);
    CHECK(walk.so_far().files == 505);
    CHECK(walk.so_far().bytes ==
          on_disk(root / "a") + on_disk(root / "a/b") + on_disk(root / "again") + on_disk(root / "link"));
    fs::remove_all(root / "a");
    while (!walk.advance(1000)) {
    }
    CHECK(walk.so_far().files == 502);  // another walk begins at zero
}
