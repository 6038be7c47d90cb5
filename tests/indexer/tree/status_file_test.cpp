// TREE/<index>/status.json
#include "indexer/tree/page_files.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

TEST_CASE("the status of an index is replaced only if it changed, and leaves no other file") {
    const auto folder = base::TempDir::make("status");
    REQUIRE(folder.has_value());
    LocalDisk disk;
    const auto file = status_file(folder->path(), "main");
    std::filesystem::create_directories(file.parent_path());
    CHECK(write_status_file(disk, folder->path(), "main", "{\"a\":1}") == true);
    const auto first = std::filesystem::last_write_time(file);
    CHECK(write_status_file(disk, folder->path(), "main", "{\"a\":1}") == false);
    CHECK(std::filesystem::last_write_time(file) == first);
    CHECK(write_status_file(disk, folder->path(), "main", "{\"a\":2}") == true);
    CHECK(*base::read_file(file, base::kib) == "{\"a\":2}");
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder->path()))
        files += entry.is_regular_file() ? 1U : 0U;
    CHECK(files == 1);
}

TEST_CASE("the status of an index that left the tree does not bring it back") {
    const auto folder = base::TempDir::make("status");
    REQUIRE(folder.has_value());
    LocalDisk disk;
    CHECK_FALSE(write_status_file(disk, folder->path(), "main", "{}").has_value());
    CHECK_FALSE(std::filesystem::exists(folder->path() / "main"));
}

}  // namespace wheelyard::indexer
