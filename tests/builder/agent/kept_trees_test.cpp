// Which build trees are kept, which are removed for lack of space, and which of their files remain.
#include "builder/agent/kept_trees.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "builder/sources/source_cache.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Attempt ended(const std::string& id, const std::string& cell, base::UnixMicros when,
              std::optional<std::uint64_t> bytes = 10) {
    Attempt attempt;
    attempt.id = id;
    attempt.asked.cell = cell;
    attempt.asked.package = "demo";
    attempt.asked.python = "3.11";
    attempt.state = State::failed;
    attempt.changed = when;
    attempt.tree.bytes = bytes;
    attempt.failure = Failure{"build", {"job.failed", "it broke"}, "", true, "", 0, EndCause::failed};
    return attempt;
}

Plan plan_of(const std::string& name, CellState state) {
    Cell cell;
    cell.name = name;
    cell.package = "demo";
    cell.python = "3.11";
    cell.state = state;
    return {{cell}, ""};
}

Names names(const std::vector<Attempt*>& attempts) {
    Names found;
    for (const Attempt* attempt : attempts)
        found.push_back(attempt->id);
    return found;
}

TEST_CASE("a tree may be removed when no attempt at its cell begins automatically") {
    struct Row {
        const char* name;
        Plan plan;
        bool listed;
    };
    const std::string cell = "demo-1.0-cp311";
    const Row rows[] = {
        {"given up", plan_of(cell, CellState::given_up), true},
        {"the index has it", plan_of(cell, CellState::have), true},
        {"left out", plan_of(cell, CellState::excluded), true},
        {"impossible", plan_of(cell, CellState::impossible), true},
        {"no longer wanted", {}, true},
        {"another version is wanted now", plan_of("demo-1.1-cp311", CellState::wanted), true},
        {"active", plan_of(cell, CellState::active), false},
        {"wanted", plan_of(cell, CellState::wanted), false},
        {"held", plan_of(cell, CellState::held), false},
        {"an index does not answer", plan_of(cell, CellState::unknown), false},
        {"its version cannot be chosen now", plan_of("demo-latest-3.11", CellState::unknown), false},
        {"its Python does not answer", plan_of("demo-1.0-3.11", CellState::impossible), false},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        std::vector<Attempt> attempts = {ended("w1", cell, 5)};
        CHECK(list_kept_trees(attempts, row.plan).size() == (row.listed ? 1 : 0));
    }
}

TEST_CASE("a cell's last attempt is listed if its tree may exist and the cell has no active attempt") {
    std::vector<Attempt> attempts = {ended("w1", "a", 50),    ended("w2", "a", 70), ended("w3", "b", 60),
                                     ended("w4", "c", 40),    ended("w5", "d", 10), ended("w6", "e", 20, 0),
                                     ended("w7", "f", 80, {})};
    attempts[1].number = 2;                // the second attempt of `a`
    attempts[2].superseded = true;         // after `retry`, and no longer wanted
    attempts[3].state = State::done;       // its tree was removed when it was done
    attempts[4].state = State::uploading;  // active
    CHECK(names(list_kept_trees(attempts, {})) == Names{"w3", "w2", "w7"});
}

TEST_CASE("the oldest failure's tree is removed first, and no more than necessary") {
    std::vector<Attempt> attempts = {ended("w1", "a", 3, 40), ended("w2", "b", 2, 30),
                                     ended("w3", "c", 1, 30), ended("w4", "d", 0, {})};
    const auto kept = list_kept_trees(attempts, {});
    CHECK(names(kept) == Names{"w4", "w3", "w2", "w1"});
    CHECK(names(choose_trees_to_remove(kept, 100)) == Names{});
    CHECK(names(choose_trees_to_remove(kept, 99)) == Names{"w3"});
    CHECK(names(choose_trees_to_remove(kept, 70)) == Names{"w3"});
    CHECK(names(choose_trees_to_remove(kept, 69)) == Names{"w3", "w2"});
    CHECK(names(choose_trees_to_remove(kept, 0)) == Names{"w3", "w2", "w1"});  // w4 is not measured yet
}

// A farm with a build that failed and was given up.
struct FailedFarm : testing::Farm {
    FailedFarm() {
        site.max_attempts = 1;
        testing::write(folder.path() / "break", "");
        CHECK(settle().plan.count(CellState::given_up) == 1);
    }
    [[nodiscard]] AttemptFolder attempt_folder() { return parts().folder_of(attempts().front()); }
};

TEST_CASE("a tree is kept while there is space; its log, record and journal entry remain after its removal") {
    FailedFarm farm;
    const AttemptFolder folder = farm.attempt_folder();
    CHECK(fs::exists(folder.tree()));
    const auto bytes = farm.attempts().front().tree.bytes;
    CHECK(bytes ==
          bytes_below(folder.tree()) + bytes_below(folder.venv()) + bytes_below(folder.build() / "home"));
    CHECK(*bytes > 0);
    farm.site.trees_gib = 0;
    farm.tick();
    CHECK(!fs::exists(folder.tree()));
    CHECK(!fs::exists(folder.venv()));
    CHECK(fs::exists(folder.log()));
    CHECK(fs::exists(folder.exit_record()));
    const Attempt removed = farm.attempts().front();
    CHECK(removed.tree.removed != 0);
    CHECK(removed.tree.bytes == 0);
    CHECK(farm.notes.back().starts_with("its build tree was removed ("));
    const auto notes = farm.notes.size();
    CHECK(!farm.tick().moved);
    CHECK(farm.notes.size() == notes);

    fs::remove(farm.folder.path() / "break");
    Agent agent(farm.parts());
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
}

TEST_CASE("after a kill during the removal of a tree, no attempt continues in that tree") {
    FailedFarm farm;
    Attempt cut = farm.attempts().front();
    cut.failure->error.code = end_row(EndCause::time_limit).code;
    cut.source.sha256 = std::string(64, 'a');
    testing::must(farm.journal->write(cut));
    const std::string its_tree = "the build tree of attempt " + cut.id;
    SUBCASE("killed") {
        farm.site.trees_gib = 0;
        CHECK(testing::tick_in_child(farm, std::string(tree_failpoint)) == 137);
        CHECK(fs::exists(farm.attempt_folder().tree()));
        SUBCASE("the next tick removes it") {
            farm.tick();
            CHECK(!fs::exists(farm.attempt_folder().tree()));
            CHECK(farm.attempts().front().tree.bytes == 0);
        }
        SUBCASE("more attempts are allowed: the next one starts with a new tree") {
            farm.site.max_attempts = 2;
            farm.tick();
            REQUIRE(farm.attempts().size() == 2);
            CHECK(farm.attempts().back().job.remedy.find(its_tree) == std::string::npos);
        }
    }
    SUBCASE("not killed, and more attempts are allowed: the next one continues in the tree") {
        farm.site.max_attempts = 2;
        farm.tick();
        REQUIRE(farm.attempts().size() == 2);
        CHECK(farm.attempts().back().job.remedy.find(its_tree) != std::string::npos);
    }
}

TEST_CASE("a wheel whose upload failed remains without its tree and is uploaded again without a build") {
    testing::Farm farm;
    farm.site.trees_gib = 0;
    farm.registry.refusal = "no right on this index";
    CHECK(farm.settle().plan.count(CellState::given_up) == 1);
    const AttemptFolder folder = farm.parts().folder_of(farm.attempts().front());
    CHECK(!fs::exists(folder.venv()));
    CHECK(fs::exists(folder.wheel()));
    farm.registry.refusal.clear();
    Agent agent(farm.parts());
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("no tree is removed while a journal file cannot be read, and only a few per tick") {
    FailedFarm farm;
    farm.site.trees_gib = 0;
    const fs::path broken = farm.site.state_directory / "attempts" / "w0.json";
    testing::write(broken, "{");
    farm.tick();
    CHECK(fs::exists(farm.attempt_folder().tree()));
    fs::remove(broken);
    for (int count = 0; count < 2 * max_trees_per_tick; ++count) {
        Attempt other = ended("w0" + std::to_string(count), "gone-" + std::to_string(count), count + 1, {});
        other.asked.package = "gone";
        other.asked.version = "1.0";
        other.job.tree = other.asked.cell;
        testing::must(farm.journal->write(other));
        testing::write(farm.parts().folder_of(other).used_by(), other.id + "\n");
        testing::write(farm.parts().folder_of(other).tree() / "file", "x");
    }
    const auto left = [&] {
        int trees = 0;
        for (const auto& entry : fs::directory_iterator(farm.site.work_directory / "trees"))
            trees += fs::exists(entry.path() / "tree") ? 1 : 0;
        return trees;
    };
    CHECK(left() == 2 * max_trees_per_tick + 1);
    farm.tick();  // measures
    CHECK(left() == 2 * max_trees_per_tick + 1);
    for (int count = 0; count < 8; ++count)
        farm.tick();
    CHECK(left() == 0);
}

}  // namespace
}  // namespace wheelyard::builder
