// A publisher that keeps the rows of large projects writes the same tree as one that keeps nothing.
#include "indexer/publish/kept_pages.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "indexer/check/check.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/files/file.hpp"
#include "tests/indexer/dying_disk.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

const TreeViews views{.find_links = true, .precompressed = true};

// What readers see below `folder`: each file's bytes. Wheels by their names alone, and pages of versions'
// variants, of which a tree keeps earlier ones, not at all.
std::map<std::string, std::string> files_below(const fs::path& tree) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(tree)) {
        const std::string name = fs::relative(entry.path(), tree).native();
        if (!entry.is_regular_file() || name.starts_with(".")) continue;
        files[name] = name.find("/files/") == name.npos ? *base::read_file(entry.path(), base::mib) : "";
    }
    return files;
}

// The difference between both, for a message.
std::string difference(const fs::path& tree, const fs::path& other) {
    const auto files = files_below(tree);
    const auto others = files_below(other);
    std::string text;
    for (const auto& [name, bytes] : files) {
        const auto there = others.find(name);
        if (there == others.end() || there->second != bytes) text += name + " ";
    }
    for (const auto& [name, bytes] : others) {
        if (!files.contains(name)) text += "-" + name + " ";
    }
    return text;
}

struct Server {
    StoreFixture store;
    KeptPages kept{max_kept_bytes, 3};
    std::vector<std::size_t> files_read;  // of each project that the last run read
    catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};

    base::Result<PublishReport> run(Disk& disk, RootPages roots, const TreeViews& of = views) {
        files_read.clear();
        return publish_with(
            disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock, of,
            {.roots = roots, .kept = &kept, .on_view = [this](const ProjectName&, const ProjectView& view) {
                 files_read.push_back(view.files.size());
             }});
    }
    PublishReport publish(RootPages roots = RootPages::prompt) {
        LocalDisk disk;
        auto report = run(disk, roots);
        if (!report) FAIL(report.error().text());
        return *std::move(report);
    }
    void add(const std::string& version, const std::string& index = "main",
             const std::string& project = "torch") {
        store.add(index, project, version, project + "-" + version + "-py3-none-any.whl");
    }
    // All compressed copies are there, and every byte is that of a tree that is made from nothing.
    void check_like_new() {
        publish(RootPages::all);
        const fs::path fresh = store.folder.path() / "fresh";
        LocalDisk disk;
        REQUIRE(publish_with(disk, store.catalog, store.blobs, fresh, {"main"}, store.clock, views));
        CHECK(difference(store.tree, fresh) == "");
        CHECK(compare_with_catalog(store.catalog, store.tree)->empty());
        fs::remove_all(fresh);
    }
};

}  // namespace

TEST_CASE("an upload into a large project reads its own file alone") {
    Server server;
    for (const char* version : {"1.0", "1.1", "2.0", "3.0"})
        server.add(version);
    server.publish();
    CHECK(server.files_read == std::vector<std::size_t>{4});
    server.add("1.5");
    CHECK(server.publish().project_pages == 1);
    CHECK(server.files_read == std::vector<std::size_t>{1});
    server.check_like_new();
}

TEST_CASE(
    "whatever happens to a project, and whichever runs fail, its tree is that of a publisher without "
    "memory") {
    Server server;
    REQUIRE(
        server.store.catalog.set_index_rules({{"gpu", {"main"}, {}}, {"cpu", {"main"}, {}}}, server.cause));
    std::mt19937 random(20261201);
    const auto below = [&](std::size_t count) { return random() % count; };
    std::vector<std::string> names;
    for (int step = 0; step < 150; ++step) {
        CAPTURE(step);
        auto& catalog = server.store.catalog;
        const std::string version =
            std::to_string(below(4)) + "." + std::to_string(step) + (below(5) == 0 ? "rc1" : "");
        const catalog::FileName some{"main", names.empty() ? "none" : names[below(names.size())]};
        switch (names.size() < 5 ? 0 : below(14)) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
                server.add(version);
                names.push_back("torch-" + version + "-py3-none-any.whl");
                break;
            case 5:
                server.add(version, "main", "six");
                break;
            case 6:
                server.add(version, "gpu", below(6) == 0 ? "torch" : "own");
                break;
            case 7:
                (void)catalog.set_yanked(some, below(2) == 0, server.cause);
                break;
            case 8:
                (void)catalog.delete_file(some, server.cause);
                break;
            case 9:
                (void)catalog.set_file_state(some, catalog::FileState::quarantined, server.cause);
                break;
            case 10:
                (void)catalog.set_file_state(some, catalog::FileState::active, server.cause);
                break;
            case 11:
                (void)catalog.set_pinned(some, below(2) == 0, server.cause);
                break;
            case 12: {
                const auto status =
                    below(2) == 0 ? catalog::ProjectStatus::deprecated : catalog::ProjectStatus::active;
                (void)catalog.set_project_status({"main", "torch", status, "old"}, server.cause);
                break;
            }
            default:
                (void)catalog.promote_files("main", std::vector{some.filename}, "cpu", server.cause);
        }
        if (below(30) == 0) {
            const std::set<std::string> owns =
                below(2) == 0 ? std::set<std::string>{"torch"} : std::set<std::string>{};
            REQUIRE(catalog.set_index_rules({{"gpu", {"main"}, owns}, {"cpu", {"main"}, {}}}, server.cause));
        }
        if (below(3) == 0) continue;  // several changes in one run
        if (below(3) == 0) {          // the disk fails, the process lives on
            DyingDisk disk(below(25), below(2) == 0 ? DyingDisk::Moment::before : DyingDisk::Moment::after);
            (void)server.run(disk, RootPages::prompt);
        }
        if (below(6) == 0) {  // a command on the data folder publishes
            LocalDisk disk;
            REQUIRE(publish_with(disk, catalog, server.store.blobs, server.store.tree, {"main"},
                                 server.store.clock, views));
        }
        server.publish(below(4) == 0 ? RootPages::all : RootPages::prompt);
        server.check_like_new();
    }
}

TEST_CASE("a wheel whose blob is lost is on no page, and comes back with the blob") {
    Server server;
    for (const char* version : {"1.0", "1.1", "2.0", "3.0"})
        server.add(version);
    server.publish();
    const auto row = server.store.make_row("main", "torch", "1.5", "torch-1.5-py3-none-any.whl");
    const fs::path blob = server.store.store / "blobs/sha256" / row.sha256.substr(0, 2) / row.sha256;
    server.store.add(row);
    fs::rename(blob, server.store.folder.path() / "elsewhere");
    CHECK(server.publish().lagging.size() == 1);
    const fs::path page = project_folder(server.store.tree, "main", "torch") / html_page;
    CHECK(base::read_file(page, base::mib)->find("torch-1.5") == std::string::npos);
    fs::rename(server.store.folder.path() / "elsewhere", blob);
    CHECK(server.publish().lagging.empty());
    server.check_like_new();
}

TEST_CASE("another URL, variants, and many changes at once are read as a whole") {
    Server server;
    for (const char* version : {"1.0", "1.1", "2.0", "3.0"})
        server.add(version);
    server.publish();
    LocalDisk disk;
    TreeViews elsewhere = views;
    elsewhere.root_url = "https://wheels.example.org/";
    server.store.add(server.store.with_attestations(
        server.store.make_row("main", "torch", "4.0", "torch-4.0-py3-none-any.whl")));
    REQUIRE(server.run(disk, RootPages::prompt, elsewhere));
    CHECK(server.files_read == std::vector<std::size_t>{5});
    auto variant = server.store.make_row("main", "torch", "1.0", "torch-1.0-py3-none-any-v3.whl");
    variant.facts_json =
        R"({"variant":{"$schema":"s","default-priorities":{"namespace":["x86_64"]},"variants":{"v3":{"x86_64":{"level":["v3"]}}}}})";
    server.store.add(variant);
    server.publish();
    CHECK(server.files_read == std::vector<std::size_t>{6});
    server.add("5.0", "main", "six");
    server.add("5.1", "main", "six");
    for (std::size_t count = 0; count <= max_changed_files; ++count)
        server.add("6." + std::to_string(count), "main", "six");
    server.publish();
    server.add("7.0", "main", "six");
    server.publish();
    CHECK(server.files_read == std::vector<std::size_t>{1});
    for (std::size_t count = 0; count <= max_changed_files; ++count)
        server.add("8." + std::to_string(count), "main", "six");
    server.publish();
    CHECK(server.files_read == std::vector<std::size_t>{2 * max_changed_files + 5});
    CHECK(compare_with_catalog(server.store.catalog, server.store.tree)->empty());
}

TEST_CASE(
    "rows beyond the limit are forgotten, those of the project that was published first before others") {
    Server server;
    server.kept = KeptPages(10'000, 3);
    for (const char* project : {"a", "b", "c"}) {
        for (const char* version : {"1", "2", "3", "4"})
            server.add(version, "main", project);
        server.publish();
    }
    CHECK_FALSE(server.kept.has({"main", "a"}));
    CHECK(server.kept.has({"main", "c"}));
    for (const char* project : {"c", "a"}) {
        server.add("5", "main", project);
        server.publish();
    }
    CHECK(server.kept.has({"main", "a"}));
    server.check_like_new();
}

TEST_CASE("a catalog of another history is not believed to have the rows that are kept") {
    Server server;
    Server other;
    for (const char* version : {"1.0", "1.1", "2.0", "3.0"}) {
        server.add(version);
        other.store.clock.sleep_ms(1);
        other.add(version);
    }
    server.publish();
    CHECK(server.kept.has({"main", "torch"}));
    const auto inheritance = *other.store.catalog.inheritance();
    REQUIRE(server.kept.follow(other.store.catalog, inheritance, *other.store.catalog.last_serial(), ""));
    CHECK_FALSE(server.kept.has({"main", "torch"}));
}
