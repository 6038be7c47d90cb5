#include "indexer/publish_run.hpp"

#include <doctest/doctest.h>

#include <set>

#include "indexer/check.hpp"
#include "indexer/paths.hpp"
#include "lib/base/file.hpp"
#include "registry/catalog/file_row.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

namespace fs = std::filesystem;

// The machine dies at one operation: before it takes place, or after. From then on nothing works.
class DyingDisk final : public Disk {
  public:
    enum class Moment { before, after };
    DyingDisk(std::size_t operation, Moment moment) : left_(operation), moment_(moment) {}
    [[nodiscard]] bool is_dead() const { return is_dead_; }

    base::Result<std::optional<std::uint64_t>> size_of(const fs::path& path) override {
        return disk_.size_of(path);
    }
    base::Result<std::string> read(const fs::path& path, std::uint64_t limit) override {
        return disk_.read(path, limit);
    }
    base::Status make_directories(const fs::path& path) override {
        return live([&] { return disk_.make_directories(path); });
    }
    base::Status link_or_copy(const fs::path& blob, const fs::path& to, std::string_view sha256,
                              const Meanwhile& meanwhile) override {
        return live([&] { return disk_.link_or_copy(blob, to, sha256, meanwhile); });
    }
    base::Status sync_directory(const fs::path& path) override {
        return live([&] { return disk_.sync_directory(path); });
    }
    base::Status replace(const fs::path& path, std::string_view bytes) override {
        if (is_dying() && moment_ == Moment::before) {
            // The most that a kill leaves: a file aside, half written.
            (void)base::replace_file(path.parent_path() / ("." + path.filename().native() + ".aside.dead"),
                                     bytes.substr(0, 7));
        }
        return live([&] { return disk_.replace(path, bytes); });
    }
    base::Status remove(const fs::path& path) override {
        return live([&] { return disk_.remove(path); });
    }
    base::Status remove_leftovers(const fs::path& folder) override {
        return live([&] { return disk_.remove_leftovers(folder); });
    }

  private:
    [[nodiscard]] bool is_dying() const { return left_ == 0 && !is_dead_; }

    template <typename Operation>
    base::Status live(Operation operation) {
        if (is_dead_) return base::fail("test.dead", "The machine is dead");
        if (left_-- > 0) return operation();
        is_dead_ = true;
        if (moment_ == Moment::after) (void)operation();
        return base::fail("test.died", "The machine died here");
    }

    LocalDisk disk_;
    std::size_t left_;
    Moment moment_;
    bool is_dead_ = false;
};

// What no reader may ever see, however the run ended.
void check_no_reader_is_misled(const fs::path& tree) {
    static const std::set<std::string> misleading{"root_names_missing", "outside",    "missing",
                                                  "wrong_size",         "wrong_hash", "no_hash"};
    const auto report = check_tree(tree);
    REQUIRE(report);
    for (const auto& finding : report->findings) {
        if (misleading.contains(finding.code))
            FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
    }
}

void check_finished(const fs::path& tree) {
    const auto report = check_tree(tree);
    REQUIRE(report);
    for (const auto& finding : report->findings)
        FAIL_CHECK(finding.code << " " << finding.page << " " << finding.detail);
    for (const auto& entry : fs::recursive_directory_iterator(tree)) {
        CHECK_MESSAGE(entry.path().native().find(".aside.") == std::string::npos, entry.path().native());
    }
}

void add_first_wheels(StoreFixture& store) {
    store.add("main", "six", "1.16.0", "six-1.16.0-py2.py3-none-any.whl");
    store.add("main", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
}

void add_more_wheels(StoreFixture& store) {
    store.add("main", "six", "1.17.0", "six-1.17.0-py2.py3-none-any.whl");
    store.add("main", "numpy", "2.1.0", "numpy-2.1.0-cp312-cp312-linux_aarch64.whl");
    store.add("gpu", "torch", "2.4.0", "torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = noon};
    REQUIRE(store.catalog.delete_file({"main", "six-1.16.0-py2.py3-none-any.whl"}, cause));
    REQUIRE(store.catalog.set_file_state({"main", "torch-2.4.0-cp312-cp312-linux_aarch64.whl"},
                                         catalog::FileState::quarantined, cause));
}

// What was deleted or quarantined is in the tree no more, whichever run took it out.
void check_taken_out(const StoreFixture& store) {
    const auto events = *store.catalog.events_after(0, 100);
    for (const auto& event : events) {
        const auto row = catalog::parse_file_row(event.details_json);
        const auto there = *store.catalog.file(event.index, event.filename);
        if (there && there->state == catalog::FileState::active) continue;
        CHECK(!fs::exists(file_folder(store.tree, row->index, row->sha256)));
    }
}

// Dies at operation `at`, dies there again, then goes through. False: the run had fewer operations than that.
bool survives_death_at(std::size_t at, DyingDisk::Moment moment, bool on_a_published_tree) {
    CAPTURE(at);
    CAPTURE(on_a_published_tree);
    StoreFixture store;
    add_first_wheels(store);
    if (on_a_published_tree) {
        REQUIRE(publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock));
        add_more_wheels(store);
    }
    for (int deaths = 0; deaths < 2; ++deaths) {
        DyingDisk disk(at, moment);
        const auto report = publish_with(disk, store.catalog, store.blobs, store.tree, {"main"}, store.clock);
        if (!disk.is_dead() && deaths == 0) return false;
        if (!disk.is_dead()) break;  // what the first run left to do has fewer operations
        CHECK(!report);
        if (fs::exists(store.tree)) check_no_reader_is_misled(store.tree);
    }
    const auto report = publish(store.catalog, store.blobs, store.tree, {"main"}, store.clock);
    REQUIRE(report);
    CHECK(report->serial == *store.catalog.last_serial());
    if (on_a_published_tree) check_taken_out(store);
    check_finished(store.tree);
    return true;
}

void die_everywhere(DyingDisk::Moment moment, bool on_a_published_tree) {
    std::size_t operations = 0;
    while (survives_death_at(operations, moment, on_a_published_tree))
        ++operations;
    CHECK(operations > 20);
}

}  // namespace

TEST_CASE("a first run may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, false);
}
TEST_CASE("a first run may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, false);
}
TEST_CASE("a later run may die before any of its operations") {
    die_everywhere(DyingDisk::Moment::before, true);
}
TEST_CASE("a later run may die after any of its operations") {
    die_everywhere(DyingDisk::Moment::after, true);
}
