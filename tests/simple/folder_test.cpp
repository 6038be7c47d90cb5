// A folder of wheels as a page.
#include "lib/simple/folder.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "lib/base/files/temp_dir.hpp"

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
    std::filesystem::create_directory(folder->path() / "avx2");
    std::filesystem::create_directory(folder->path() / ".cache");
    const auto found = read_folder(folder->path());
    REQUIRE(found.has_value());
    CHECK(found->folders == std::vector<std::string>{"avx2"});
    CHECK(found->packages == 4);
    const auto* page = &found->page;
    REQUIRE(page->files.size() == 2);
    CHECK(page->files[0].filename == "a b-1.0.tar.gz");
    CHECK(page->files[0].url.ends_with("/a%20b-1.0.tar.gz"));
    CHECK(page->files[1].size_bytes == 5);
    const auto url = base::parse_url(page->files[1].url);
    REQUIRE(url.has_value());
    CHECK(*base::last_segment(*url) == page->files[1].filename);
}

TEST_CASE("only chosen names are read") {
    const auto folder = base::TempDir::make("wheelyard-folder-test");
    REQUIRE(folder.has_value());
    for (const char* name : {"a-1.0-py3-none-any.whl", "b-1.0-py3-none-any.whl"})
        std::ofstream(folder->path() / name) << "1";
    // A link to nowhere would be dropped by a stat; that it is counted shows that there was none.
    std::filesystem::create_symlink("/nowhere", folder->path() / "c-1.0-py3-none-any.whl");
    const auto found =
        read_folder(folder->path(), [](std::string_view name) { return name.starts_with("a-"); });
    REQUIRE(found.has_value());
    REQUIRE(found->page.files.size() == 1);
    CHECK(found->page.files[0].filename == "a-1.0-py3-none-any.whl");
    CHECK(found->packages == 3);
}

TEST_CASE("a missing folder is an error") {
    CHECK(read_folder("/nonexistent-folder/of/wheels").error().code == "simple.folder");
}

}  // namespace wheelyard::simple
