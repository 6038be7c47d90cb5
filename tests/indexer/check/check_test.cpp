#include "indexer/check/check.hpp"

#include <doctest/doctest.h>

#include <set>

#include "indexer/publish/publish.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

struct Published : StoreFixture {
    catalog::FileRow row = make_row("main", "six", "1.16.0", "six-1.16.0-py2.py3-none-any.whl");
    fs::path file = file_folder(tree, "main", row.sha256) / row.filename;
    fs::path html = tree / "main/simple/six/index.html";
    fs::path json = tree / "main/simple/six/index.json";

    Published() {
        add(row);
        REQUIRE(publish(catalog, blobs, tree, {"main"}, clock));
    }
    void edit(const fs::path& page, std::string_view from, std::string_view to) {
        const auto text = *base::read_file(page, 1 << 20);
        REQUIRE(text.find(from) != std::string::npos);
        REQUIRE(base::replace_file(page, base::replace_all(text, from, to)));
    }
    std::set<std::string> codes() const {
        const auto report = check_tree(tree);
        REQUIRE(report);
        std::set<std::string> found;
        for (const auto& finding : report->findings)
            found.insert(finding.code);
        return found;
    }
};

using Codes = std::set<std::string>;

}  // namespace

TEST_CASE("a published tree has no findings, and every file is hashed once") {
    Published published;
    const auto report = check_tree(published.tree);
    REQUIRE(report);
    CHECK(report->findings.empty());
    CHECK(report->pages == 5);
    CHECK(report->files == 2);  // the wheel and its metadata, although two pages list them
    CHECK(report->bytes_hashed == published.row.size_bytes + published.row.metadata_size_bytes);
}

TEST_CASE("a copy of a tree has no findings, with the tree's record and without it") {
    for (const bool has_record : {true, false}) {
        CAPTURE(has_record);
        Published at;
        REQUIRE(publish(at.catalog, at.blobs, at.tree, {"main"}, at.clock,
                        {.find_links = true, .precompressed = true, .pages = true}));
        const fs::path copy = at.tree.parent_path() / "copy";
        fs::copy(at.tree, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
        if (!has_record) fs::remove_all(state_folder(copy));
        const auto report = check_tree(copy);
        REQUIRE(report);
        CHECK(report->findings.empty());
        CHECK(report->files == check_tree(at.tree)->files);
    }
}

TEST_CASE("a missing file is found") {
    Published published;
    fs::remove(published.file);
    CHECK(published.codes() == Codes{"missing"});
}

TEST_CASE("a flipped bit is found") {
    Published published;
    auto bytes = *base::read_file(published.file, 1 << 20);
    bytes[3] ^= 1;
    REQUIRE(base::replace_file(published.file, bytes));
    CHECK(published.codes() == Codes{"wrong_hash"});
}

TEST_CASE("metadata with a wrong hash is found") {
    Published published;
    REQUIRE(base::replace_file(published.file.native() + ".metadata", "Name: other\n"));
    CHECK(published.codes() == Codes{"wrong_hash"});
}

TEST_CASE("a size that only the JSON has is compared with the file") {
    Published published;
    published.edit(published.json, "\"size\":" + std::to_string(published.row.size_bytes), "\"size\":7");
    CHECK(published.codes() == Codes{"wrong_size"});
}

TEST_CASE("a link without a hash is found") {
    Published published;
    published.edit(published.html, "#sha256=" + published.row.sha256, "");
    CHECK(published.codes() == Codes{"no_hash", "pages_differ"});
}

TEST_CASE("links that leave the tree are found") {
    for (const char* to : {"https://elsewhere.example/files/", "//elsewhere.example/files/",
                           "../../%2e%2e/%2e%2e/files/", "../../../../%2f/etc/passwd/"}) {
        CAPTURE(to);
        Published published;
        published.edit(published.html, "../../files/", to);
        CHECK(published.codes().contains("outside"));
    }
}

TEST_CASE("formats that differ are found") {
    Published published;
    published.edit(published.json, "\"yanked\":false", "\"yanked\":\"broken\"");
    CHECK(published.codes() == Codes{"pages_differ"});
}

TEST_CASE("a page of --find-links that lists other files than the pages of projects is found") {
    const std::string page = "main/find-links/index.html";
    Published other_hash;
    other_hash.edit(other_hash.tree / page, "#sha256=", "#sha256=ab");
    CHECK(other_hash.codes().contains("flat_lacks"));
    Published other_name;
    other_name.edit(other_name.tree / page, "/six-1.16", "/six-1.17");
    CHECK(other_name.codes() == Codes{"flat_lacks", "flat_leads_nowhere"});
    Published empty;
    REQUIRE(base::replace_file(empty.tree / page, "<html></html>"));
    CHECK(empty.codes() == Codes{"flat_lacks"});
    fs::remove(empty.tree / page);  // as an older program leaves the tree
    CHECK(empty.codes().empty());
}

TEST_CASE("a root with extra or missing names is found") {
    Published published;
    const fs::path root = published.tree / "main/simple/index.html";
    published.edit(root, "six", "seven");
    CHECK(published.codes() == Codes{"pages_differ", "root_names_missing", "root_lacks"});
}

TEST_CASE("a missing or malformed page is found") {
    Published published;
    REQUIRE(base::replace_file(published.json, "{"));
    CHECK(published.codes() == Codes{"page_unreadable"});
    fs::remove(published.json);
    CHECK(published.codes() == Codes{"page_unreadable"});
}

TEST_CASE("a compressed page that cannot be read is found") {
    Published published;
    fs::create_directory(published.html.native() + ".gz");
    CHECK(published.codes() == Codes{"compressed_differs"});
}

TEST_CASE(
    "a folder that is no tree is found, also that of an index; a tree whose run had no index to publish is "
    "right") {
    Published published;
    for (const fs::path& wrong : {published.tree / "main", published.folder.path() / "store"}) {
        const auto report = check_tree(wrong);
        REQUIRE(report);
        REQUIRE_MESSAGE(report->findings.size() == 1, wrong.native());
        CHECK(report->findings.front().code == "no_index");
        CHECK(report->findings.front().detail.starts_with(wrong.native() + " has no index"));
    }
    StoreFixture empty;
    REQUIRE(publish(empty.catalog, empty.blobs, empty.tree, {}, empty.clock));
    const auto report = check_tree(empty.tree);
    REQUIRE(report);
    CHECK(report->findings.empty());
}
