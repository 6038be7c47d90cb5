#include "indexer/tree/page_files.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "indexer/tree/disk.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/io/gzip.hpp"
#include "lib/io/zstd.hpp"

namespace wheelyard::indexer {

namespace {

struct PageFolder {
    [[nodiscard]] std::set<std::string> names() const {
        std::set<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(path))
            found.insert(entry.path().filename().native());
        return found;
    }
    [[nodiscard]] std::string text_of(const std::string& name) const {
        return base::read_file(path / name, max_page_bytes).value_or("");
    }
    base::TempDir temp = std::move(*base::TempDir::make("pages"));
    std::filesystem::path path = temp.path() / "six";
    LocalDisk disk;
};

}  // namespace

TEST_CASE("a large page has compressed copies in every tree, a small one only where they are wanted") {
    struct Row {
        std::size_t bytes;
        bool precompressed;
        bool has_copies;
    };
    for (const Row& row :
         {Row{min_large_page_bytes, false, true}, Row{min_large_page_bytes - 1, false, false},
          Row{min_gzipped_bytes, true, true}, Row{min_gzipped_bytes - 1, true, false}}) {
        CAPTURE(row.bytes);
        PageFolder folder;
        const std::string text(row.bytes, 'p');
        for (const bool changes : {true, false}) {
            CHECK(write_pages(folder.disk, folder.path, {{"index.html", text}}, row.precompressed) ==
                  changes);
            CHECK(folder.names() ==
                  (row.has_copies ? std::set<std::string>{"index.html", "index.html.gz", "index.html.zst"}
                                  : std::set<std::string>{"index.html"}));
        }
        if (!row.has_copies) continue;
        CHECK(io::gunzip(folder.text_of("index.html.gz"), row.bytes).value() == text);
        CHECK(io::unzstd(folder.text_of("index.html.zst"), row.bytes).value() == text);
        // No copy outlives the page that it was made of.
        CHECK(write_pages(folder.disk, folder.path, {{"index.html", "small"}}, row.precompressed) == true);
        CHECK(folder.names() == std::set<std::string>{"index.html"});
    }
}

TEST_CASE("copies that come later are gone before their page changes, and stay where it does not") {
    PageFolder folder;
    const std::string text(min_gzipped_bytes, 'p');
    const auto write = [&](const std::string& page) {
        bool lacks_copies = false;
        REQUIRE(write_pages(folder.disk, folder.path, {{"index.html", page}}, true, &lacks_copies));
        return lacks_copies;
    };
    CHECK(write(text));
    CHECK(folder.names() == std::set<std::string>{"index.html"});
    REQUIRE(write_copies(folder.disk, folder.path, true));
    CHECK(io::gunzip(folder.text_of("index.html.gz"), text.size()).value() == text);
    CHECK(io::unzstd(folder.text_of("index.html.zst"), text.size()).value() == text);
    CHECK_FALSE(write(text));
    CHECK(folder.names() == std::set<std::string>{"index.html", "index.html.gz", "index.html.zst"});
    CHECK(write(text + "new"));
    CHECK(folder.names() == std::set<std::string>{"index.html"});
    CHECK_FALSE(write(text + "new"));  // as after a kill: a page that stays gets what it lacks at once
    CHECK(folder.names() == std::set<std::string>{"index.html", "index.html.gz", "index.html.zst"});
    // Nor does a copy of another page stay, which a killed run may have left.
    REQUIRE(base::replace_file(std::filesystem::path(folder.path) / "index.html.gz", "of another page"));
    CHECK_FALSE(write(text + "new"));
    CHECK(io::gunzip(folder.text_of("index.html.gz"), text.size() + 3).value() == text + "new");
    CHECK_FALSE(write("small"));
    CHECK(folder.names() == std::set<std::string>{"index.html"});
    CHECK(write_copies(folder.disk, folder.path.parent_path() / "none", true));
    CHECK_FALSE(std::filesystem::exists(folder.path.parent_path() / "none"));
}

TEST_CASE("a text that is replaced by itself has its compressed copies, and loses them with its size") {
    PageFolder folder;
    std::filesystem::create_directories(folder.path);
    const std::string text(min_gzipped_bytes, 'c');
    const auto temp = folder.temp.path() / "new";
    REQUIRE(replace_text_via(folder.disk, temp, folder.path / "catalogue.txt", text));
    CHECK(folder.names() == std::set<std::string>{"catalogue.txt", "catalogue.txt.gz", "catalogue.txt.zst"});
    CHECK(io::unzstd(folder.text_of("catalogue.txt.zst"), text.size()).value() == text);
    REQUIRE(replace_text_via(folder.disk, temp, folder.path / "catalogue.txt", "short"));
    CHECK(folder.names() == std::set<std::string>{"catalogue.txt"});
    REQUIRE(replace_text_via(folder.disk, temp, folder.path / "catalogue.txt", text));
    REQUIRE(remove_page(folder.disk, folder.path / "catalogue.txt"));
    CHECK(folder.names().empty());
}

TEST_CASE("copies that the last writer of a tree did not keep are removed, and no wheel of such a name") {
    const base::TempDir temp = std::move(*base::TempDir::make("copies"));
    LocalDisk disk;
    const auto text = [&](const std::string& name) {
        const auto path = temp.path() / name;
        std::filesystem::create_directories(path.parent_path());
        REQUIRE(base::replace_file(path, "x"));
        return path;
    };
    const auto page = text("main/simple/six/index.html.zst");
    const auto list = text("main/status.json.zst");
    const auto gzip = text("main/simple/six/index.html.gz");
    const auto file = text("main/files/ab/abcd/data.zst");
    const auto own = text(".wheelyard/state.zst");
    const auto remove = [&](const std::set<std::string>& kept) {
        return remove_left_copies(disk, temp.path(), kept, [] { return base::Status(); });
    };
    REQUIRE(remove(kept_copies()));
    CHECK(std::filesystem::exists(page));
    REQUIRE(remove({}));
    for (const auto& gone : {page, list})
        CHECK_FALSE(std::filesystem::exists(gone));
    for (const auto& stays : {gzip, file, own})
        CHECK(std::filesystem::exists(stays));
    CHECK(remove_left_copies(disk, temp.path() / "none", {}, [] { return base::Status(); }));
}

}  // namespace wheelyard::indexer
