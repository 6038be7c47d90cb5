// Comparing the tree with the catalog finds each kind of damage; a repair fixes it or reports what it cannot.
#include "indexer/check/check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

const std::string six = "six-1.16.0-py2.py3-none-any.whl";

struct Tree : StoreFixture {
    catalog::FileRow row = make_row("main", "six", "1.16.0", six);
    fs::path wheel = file_folder(tree, "main", row.sha256) / six;
    Tree() {
        row.requires_python = ">=2.7" + std::string(1'100, ' ');  // large enough to be compressed
        add(row);
        add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
        REQUIRE(publish(catalog, blobs, tree, {"main"}, clock, {.find_links = true, .precompressed = true}));
    }
};

bool has(const std::vector<Finding>& findings, const std::string& code) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.code == code; });
}

// Replaces the file instead of writing into it, because it is hard-linked to its blob.
void overwrite(const fs::path& file, const std::string& bytes) {
    REQUIRE(base::replace_file(file, bytes));
}

// Interrupts a repair between removing and publishing: by then, another process holds the lock.
class LateClock final : public base::Clock {
  public:
    explicit LateClock(const Tree& at) : at_(at) {}
    [[nodiscard]] base::UnixMicros now() const override {
        const base::UnixMicros now = at_.clock.now();
        if (!fs::exists(at_.wheel))
            REQUIRE(base::replace_file(state_folder(at_.tree) / "lock",
                                       "wheelyard-lock 1\nhost other\npid 1\nprocess_start 1\nrefreshed " +
                                           base::render_rfc3339(now) + "\ntoken x\n"));
        return now;
    }
    void sleep_ms(std::int64_t /*duration_ms*/) override {}

  private:
    const Tree& at_;
};

struct Damage {
    const char* code;
    std::function<void(Tree&)> make;
};

const std::vector<Damage> damages = {
    {"missing", [](Tree& at) { fs::remove(at.wheel); }},
    {"wrong_size", [](Tree& at) { overwrite(at.wheel, "short"); }},
    {"wrong_hash", [](Tree& at) { overwrite(at.wheel, std::string(at.row.size_bytes, 'x')); }},
    {"unnamed", [](Tree& at) { overwrite(at.wheel.parent_path() / "stray.whl", "x"); }},
    {"compressed_differs", [](Tree& at) { overwrite(at.tree / "main/simple/six/index.html.gz", "x"); }},
    {"flat_leads_nowhere",
     [](Tree& at) { fs::create_symlink("../files/no/where.whl", at.tree / "main/find-links/where.whl"); }},
    {"flat_lacks", [](Tree& at) { fs::remove(at.tree / "main/find-links" / six); }},
    {"flat_lacks", [](Tree& at) { overwrite(at.tree / "main/find-links/index.html", "<html></html>"); }},
    {"page_unreadable", [](Tree& at) { fs::remove(at.tree / "main/simple/six/index.json"); }},
    {"page_stale", [](Tree& at) { overwrite(at.tree / "main/simple/six/index.html", "<!DOCTYPE html>\n"); }},
    {"page_missing", [](Tree& at) { fs::remove_all(at.tree / "main/simple/torch"); }},
    {"unknown_project", [](Tree& at) { fs::create_directory(at.tree / "main/simple/stray"); }},
    {"root_lacks", [](Tree& at) { overwrite(at.tree / "main/simple/index.html", "<!DOCTYPE html>\n"); }},
};

}  // namespace

TEST_CASE("any damage is found, and fixed by a repair") {
    for (const auto& damage : damages) {
        CAPTURE(damage.code);
        Tree at;
        damage.make(at);
        const auto report = repair_tree(at.catalog, at.blobs, at.tree, at.clock);
        REQUIRE(report);
        CHECK(has(report->before.findings, damage.code));
        for (const auto& finding : report->after.findings)
            FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
        CHECK(fs::equivalent(at.wheel, at.blobs.path_of(at.row.sha256)));
    }
}

TEST_CASE("a repair killed after removing files leaves no record that claims they exist") {
    Tree at;
    overwrite(at.wheel, "short");
    CHECK(repair_tree(at.catalog, at.blobs, at.tree, LateClock(at)).error().code == "lock.held");
    CHECK_FALSE(fs::exists(at.wheel));
    REQUIRE(base::remove_file(state_folder(at.tree) / "lock"));
    LocalDisk disk;
    REQUIRE(
        publish_with(disk, at.catalog, at.blobs, at.tree, {"main"}, at.clock, {}, {.rewrite_pages = true}));
    CHECK(check_with_catalog(at.catalog, at.tree)->findings.empty());
    CHECK(fs::equivalent(at.wheel, at.blobs.path_of(at.row.sha256)));
}

TEST_CASE("a tree of another history is rejected before any file is removed") {
    Tree at;
    overwrite(at.wheel.parent_path() / "stray.whl", "x");
    Tree other;
    other.add("main", "numpy", "2.0", "numpy-2.0-cp312-cp312-linux_aarch64.whl");
    REQUIRE(publish(other.catalog, other.blobs, other.tree, {"main"}, other.clock));
    const std::string record = base::read_file(published_file(other.tree), 4'096).value();
    REQUIRE(base::replace_file(published_file(at.tree), record));
    CHECK(repair_tree(at.catalog, at.blobs, at.tree, at.clock).error().code == "publish.tree_ahead");
    CHECK(base::read_file(published_file(at.tree), 4'096).value() == record);
    CHECK(fs::exists(at.wheel.parent_path() / "stray.whl"));
}

TEST_CASE("an undamaged tree is not changed") {
    Tree at;
    const auto before = fs::last_write_time(at.tree / "main/simple/six/index.html");
    const auto report = repair_tree(at.catalog, at.blobs, at.tree, at.clock);
    REQUIRE(report);
    CHECK(report->before.findings.empty());
    CHECK(report->published.project_pages == 0);
    CHECK(report->published.root_pages == 0);
    CHECK(fs::last_write_time(at.tree / "main/simple/six/index.html") == before);
}

TEST_CASE("a tree behind its catalog is reported, and a repair brings it up to date") {
    Tree at;
    at.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    CHECK(has(*compare_with_catalog(at.catalog, at.tree), "behind"));
    REQUIRE(repair_tree(at.catalog, at.blobs, at.tree, at.clock));
    CHECK(compare_with_catalog(at.catalog, at.tree)->empty());
}

TEST_CASE("a damaged blob cannot be repaired, and is not reported as repaired") {
    Tree at;
    const fs::path blob = at.blobs.path_of(at.row.sha256);
    fs::permissions(blob, fs::perms::owner_write, fs::perm_options::add);
    {
        std::FILE* file =
            std::fopen(blob.c_str(), "r+");  // in place, because the tree's link is the same file
        REQUIRE(file != nullptr);
        std::fputc('X', file);
        std::fclose(file);
    }
    const auto report = repair_tree(at.catalog, at.blobs, at.tree, at.clock);
    REQUIRE(report);
    CHECK(has(report->after.findings, "wrong_hash"));
}

TEST_CASE("no file is removed while a publisher runs") {
    Tree at;
    overwrite(at.wheel.parent_path() / "stray.whl", "x");
    const auto lock = base::LockFile::acquire(state_folder(at.tree) / "lock", at.clock, 60'000);
    REQUIRE(lock);
    CHECK(repair_tree(at.catalog, at.blobs, at.tree, at.clock).error().code == "lock.held");
    CHECK(fs::exists(at.wheel.parent_path() / "stray.whl"));
}
