// Private and public indexes in trees of their own, and indexes that change from one to the other.
#include "indexer/publish/withdrawn.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "indexer/check/check.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/wheel_list/wheel_list_file.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "tests/indexer/dying_disk.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

const FarmText farm{.titles = {{"burrow", "Quokkas"}, {"open", "Kiwis"}}, .hidden = {"burrow"}};
constexpr std::size_t max_operations = 10'000;

struct Trees : StoreFixture {
    fs::path private_tree = folder.path() / "private";

    Trees() {
        add("open", "kiwi", "1.0", "kiwi-1.0-py3-none-any.whl");
        add("burrow", "quokka", "1.0", "quokka-1.0-py3-none-any.whl");
    }
    void rules(bool is_private) {
        REQUIRE(catalog.set_index_rules(
            {{.index = "open"}, {.index = "burrow", .inherits = {"open"}, .is_private = is_private}},
            {.actor = "configuration", .reason = {}, .time = noon}));
    }
    base::Result<PublishReport> publish(Disk& disk, catalog::Readers readers) {
        const fs::path& to = readers == catalog::Readers::everyone ? tree : private_tree;
        return publish_with(disk, catalog, blobs, to, {"open", "burrow"}, clock,
                            {.find_links = true, .pages = true, .farm = farm, .readers = readers});
    }
    base::Status publish_both(Disk& disk) {
        WHEELYARD_TRY(publish(disk, catalog::Readers::everyone));
        WHEELYARD_TRY(update_wheel_lists(disk, catalog, tree, clock));
        WHEELYARD_TRY(publish(disk, catalog::Readers::with_token));
        return update_wheel_lists(disk, catalog, private_tree, clock);
    }
    // Names of files and folders, and files' contents, that name what everyone may not know.
    [[nodiscard]] std::vector<std::string> leaks(const fs::path& folder_of) const {
        std::vector<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(folder_of)) {
            const std::string name = entry.path().filename().native();
            const auto text =
                entry.is_regular_file() ? base::read_file(entry.path(), base::mib) : std::string();
            for (const std::string_view word : {"quokka", "Quokkas", "burrow"}) {
                if ((text && text->find(word) != std::string::npos) || name.starts_with(word))
                    found.push_back(entry.path().native() + ": " + std::string(word));
            }
        }
        return found;
    }
    void check(const fs::path& folder_of) const {
        const auto report = check_with_catalog(catalog, folder_of);
        REQUIRE(report);
        for (const auto& finding : report->findings)
            FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
    }
    [[nodiscard]] std::map<std::string, catalog::Serial> serials_of(const fs::path& folder_of) const {
        const auto record = base::read_file(published_file(folder_of), base::mib);
        return parse_published_state(record.value_or("")).value().serials;
    }
};

void check_empty(const std::vector<std::string>& leaks) {
    for (const std::string& leak : leaks)
        FAIL_CHECK(leak);
}

}  // namespace

TEST_CASE("a private index lies in the private tree alone, with what it inherits from public ones") {
    Trees trees;
    LocalDisk disk;
    trees.rules(true);
    REQUIRE(trees.publish_both(disk));
    check_empty(trees.leaks(trees.tree));
    trees.check(trees.tree);
    trees.check(trees.private_tree);
    CHECK(fs::exists(trees.private_tree / "burrow/simple/kiwi/index.html"));
    CHECK_FALSE(fs::exists(trees.private_tree / "open"));
    struct stat info {};
    REQUIRE(::stat(trees.private_tree.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
    trees.add("open", "emu", "1.0", "emu-1.0-py3-none-any.whl");
    REQUIRE(trees.publish_both(disk));
    CHECK(fs::exists(trees.private_tree / "burrow/simple/emu/index.html"));
    trees.check(trees.private_tree);
}

TEST_CASE("an index that becomes private leaves the tree for everyone, wherever the run is killed") {
    bool has_ended = false;
    for (std::size_t operation = 0; !has_ended && operation < max_operations; ++operation) {
        const auto moment = operation % 2 == 0 ? DyingDisk::Moment::before : DyingDisk::Moment::after;
        Trees trees;
        LocalDisk disk;
        trees.rules(false);
        REQUIRE(trees.publish_both(disk));
        REQUIRE_FALSE(trees.leaks(trees.tree).empty());
        trees.rules(true);
        DyingDisk dying(operation, moment);
        has_ended = trees.publish(dying, catalog::Readers::everyone).has_value() && !dying.is_dead();
        if (has_ended) check_empty(trees.leaks(trees.tree));
        REQUIRE(trees.publish_both(disk));
        check_empty(trees.leaks(trees.tree));
        trees.check(trees.tree);
        trees.check(trees.private_tree);
    }
    CHECK(has_ended);
}

TEST_CASE("pages that a killed run had written but not renamed leave with their index") {
    Trees trees;
    LocalDisk disk;
    trees.rules(false);
    REQUIRE(trees.publish_both(disk));
    for (const char* draft : {"find-links-burrow.new", "status-burrow.new"})
        std::ofstream(trees.tree / ".wheelyard" / draft) << "quokka";
    REQUIRE_FALSE(trees.leaks(trees.tree).empty());
    trees.rules(true);
    REQUIRE(trees.publish_both(disk));
    check_empty(trees.leaks(trees.tree));
}

TEST_CASE("an index that becomes public comes whole, with its serial, wherever the run is killed") {
    bool has_ended = false;
    for (std::size_t operation = 0; !has_ended && operation < max_operations; ++operation) {
        const auto moment = operation % 2 == 0 ? DyingDisk::Moment::before : DyingDisk::Moment::after;
        Trees trees;
        LocalDisk disk;
        trees.rules(true);
        REQUIRE(trees.publish_both(disk));
        trees.rules(false);
        DyingDisk dying(operation, moment);
        has_ended = trees.publish_both(dying).has_value() && !dying.is_dead();
        REQUIRE(trees.publish_both(disk));
        trees.check(trees.tree);
        check_empty(trees.leaks(trees.private_tree));
        CHECK(trees.serials_of(trees.tree).at("burrow") == *trees.catalog.last_serial());
        CHECK_FALSE(trees.serials_of(trees.private_tree).contains("burrow"));
    }
    CHECK(has_ended);
}

TEST_CASE("a tree holds the indexes of one kind of readers for good") {
    Trees trees;
    LocalDisk disk;
    trees.rules(true);
    REQUIRE(trees.publish_both(disk));
    std::swap(trees.tree, trees.private_tree);
    for (const auto readers : {catalog::Readers::everyone, catalog::Readers::with_token}) {
        const auto refused = trees.publish(disk, readers);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == "publish.other_readers");
    }
}

TEST_CASE("a private index that somebody copied into the tree for everyone is found and removed") {
    Trees trees;
    LocalDisk disk;
    trees.rules(true);
    REQUIRE(trees.publish_both(disk));
    fs::copy(trees.private_tree / "burrow", trees.tree / "burrow",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    const auto report = check_with_catalog(trees.catalog, trees.tree);
    REQUIRE(report);
    CHECK(std::any_of(report->findings.begin(), report->findings.end(),
                      [](const Finding& finding) { return finding.code == "other_readers"; }));
    const auto repaired = repair_tree(trees.catalog, trees.blobs, trees.tree, trees.clock);
    REQUIRE(repaired);
    CHECK(repaired->after.findings.empty());
    check_empty(trees.leaks(trees.tree));
}
