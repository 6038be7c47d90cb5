#include "indexer/check/signed_check.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "indexer/check/check.hpp"
#include "indexer/publish/publish_run.hpp"
#include "lib/base/text/text.hpp"
#include "tests/indexer/signed_tree.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

struct SignedTree : StoreFixture {
    TestSigner by;
    fs::path seen = folder.path() / "seen";
    fs::path index = tree / "main";

    SignedTree() {
        add_version("1.0");
        run();
    }
    void add_version(const std::string& version) {
        add("main", "six", version, "six-" + version + "-py3-none-any.whl");
    }
    void run() {
        LocalDisk disk;
        REQUIRE(publish_with(disk, catalog, blobs, tree, {"main"}, clock,
                             {.find_links = true, .precompressed = true, .signer = by.signer()}, {}));
    }
    std::string detail;  // of the last finding
    // "code page" of each finding.
    std::vector<std::string> found(const std::string& signed_as = {}) {
        std::vector<std::string> findings;
        const auto done =
            check_signatures(tree, {by.root, seen, signed_as}, clock,
                             [&](const std::string& code, const std::string& page, const std::string& why) {
                                 findings.push_back(code + " " + page);
                                 detail = why;
                             });
        REQUIRE_MESSAGE(done, done.error().text());
        return findings;
    }
    static void edit(const fs::path& page, std::string_view from, std::string_view to) {
        REQUIRE(base::replace_file(page, base::replace_all(signed_text_of(page), from, to)));
    }
};

using Findings = std::vector<std::string>;

}  // namespace

TEST_CASE("a tree that was changed consistently is complete, but not as it was signed") {
    SignedTree at;
    CHECK(at.found().empty());
    // Another wheel's name on both pages of the project, and no compressed copies that could differ.
    const std::string old_name = "six-1.0-py3-none-any.whl", new_name = "six-9.0-py3-none-any.whl";
    for (const char* page : {"simple/six/index.html", "simple/six/index.json"})
        SignedTree::edit(at.index / page, old_name, new_name);
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(at.tree))
        files.push_back(entry.path());
    for (const fs::path& file : files) {
        const std::string name = file.filename().native();
        if (name.starts_with(old_name))
            fs::rename(file, file.parent_path() / (new_name + name.substr(old_name.size())));
        else if (name == "index.html.gz" || name == "index.html.zst")
            fs::remove(file);
    }
    fs::remove_all(at.index / "find-links");
    const auto complete = check_tree(at.tree);
    REQUIRE(complete);
    for (const Finding& finding : complete->findings)
        FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
    CHECK(at.found() ==
          Findings{"not_as_signed main/simple/six/index.html", "not_as_signed main/simple/six/index.json"});
}

TEST_CASE(
    "a tree that went back to an earlier state is refused from then on, and so is one that lost an index") {
    SignedTree at;
    const fs::path old = at.folder.path() / "old";
    fs::copy(at.tree, old, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    at.add_version("1.1");
    at.run();
    CHECK(at.found().empty());
    const fs::path current = at.folder.path() / "current";
    fs::rename(at.tree, current);
    fs::rename(old, at.tree);
    CHECK(at.found() == Findings{"not_signed main/signed/state.json"});
    const fs::path remembered = at.seen;
    at.seen.clear();
    CHECK(at.found().empty());  // without memory an old state is a good one
    at.seen = remembered;
    fs::remove_all(at.index);
    CHECK(at.found() == Findings{"not_signed main/signed/state.json"});
    CHECK(at.detail.ends_with("remove " +
                              (at.seen / "main.seen").string()));  // an operator may have removed it
    fs::remove_all(at.tree);
    fs::rename(current, at.tree);
    CHECK(at.found().empty());
}

TEST_CASE("what nobody has signed is found: other pages, other names and keys, and trees without indexes") {
    SignedTree at;
    fs::create_directory(at.index / "simple/evil");
    REQUIRE(base::replace_file(at.index / "simple/six/index.htm", "x"));
    CHECK(at.found() ==
          Findings{"unlisted_page main/simple/six/index.htm", "unlisted_page main/simple/evil"});
    CHECK_FALSE(fs::exists(at.seen));  // only what is right is remembered
    fs::remove(at.index / "simple/evil");
    fs::remove(at.index / "simple/six/index.htm");
    REQUIRE(base::replace_file(at.index / "simple/six/index.html.gz", "x"));
    CHECK(at.found() == Findings{"not_as_signed main/simple/six/index.html.gz"});
    at.run();  // does not write it again: the page is the same
    fs::remove(at.index / "simple/six/index.html.gz");
    CHECK(at.found().empty());
    CHECK(at.found("staging") == Findings{"not_signed main/signed/state.json"});
    fs::rename(at.index, at.tree / "copy");
    at.seen.clear();
    CHECK(at.found() == Findings{"not_signed copy/signed/state.json"});
    CHECK(at.found("main").empty());
    const TestSigner other;
    at.by.root = other.root;
    CHECK(at.found("main") == Findings{"not_signed copy/signed/state.json"});
    fs::remove_all(at.tree / "copy");
    CHECK(at.found() == Findings{"not_signed ."});
}
