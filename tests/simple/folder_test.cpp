// A folder of wheels as a page.
#include "lib/simple/folder.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "lib/base/temp_dir.hpp"

namespace wheelyard::simple {

TEST_CASE("only the packages in a folder are listed, by name, with their sizes") {
    const auto folder = base::TempDir::make("wheelyard-folder-test");
    REQUIRE(folder.has_value());
    const auto write = [&](const char* name, const char* text) {
        std::ofstream(folder->path() / name) << text;
    };
    write("torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl", "12345");
    write("a b-1.0.tar.gz", "1");
    write("notes.txt", "1");
    write("empty-1.0-py3-none-any.whl", "");
    std::filesystem::create_directory(folder->path() / "folder.whl");
    const auto page = read_folder(folder->path());
    REQUIRE(page.has_value());
    REQUIRE(page->files.size() == 2);
    CHECK(page->files[0].filename == "a b-1.0.tar.gz");
    CHECK(page->files[0].url.ends_with("/a%20b-1.0.tar.gz"));
    CHECK(page->files[1].size == 5);
    const auto url = base::parse_url(page->files[1].url);
    REQUIRE(url.has_value());
    CHECK(*base::last_segment(*url) == page->files[1].filename);
}

TEST_CASE("a missing folder is an error") {
    CHECK(read_folder("/nonexistent-folder/of/wheels").error().code == "simple.folder");
}

}  // namespace wheelyard::simple
