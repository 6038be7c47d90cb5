// What an administrator says of files that only an upstream has, before and after they are fetched.
#include "lib/store/catalog/marks.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "lib/store/engine/sqlite/sqlite.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::ChangeOutcome;
using catalog::FileRow;
using catalog::FileState;
using catalog::row_of;
using catalog::Serial;

namespace {

const std::string cache = "main.pypi";
const std::string wheel_1_0 = "six-1.0-py3-none-any.whl";
const catalog::Cause said{.actor = "anna", .reason = "malware", .time = 1'795'000'000'000'777};

struct Cache {
    catalog::CatalogFolder folder;
    std::unique_ptr<catalog::Catalog> catalog = folder.open();

    ChangeOutcome yank(const std::string& name, bool yanked = true) {
        return catalog->set_yanked({cache, name}, yanked, said)->outcome;
    }
    ChangeOutcome quarantine(const std::string& name, FileState state = FileState::quarantined,
                             const std::string& reason = said.reason) {
        return catalog->set_file_state({cache, name}, state, {said.actor, reason, said.time})->outcome;
    }
    // Why the fetched file is in quarantine; empty: it is not.
    std::string state(const std::string& version) {
        const FileRow row = *catalog->file(cache, row_of(cache, "six", version, 'a').filename).value();
        CHECK((row.state == FileState::quarantined) == !row.state_reason.empty());
        return row.state_reason;
    }
    // The file as it is once it was fetched.
    FileRow fetched(const std::string& version, char digit, bool yanked = false) {
        FileRow row = row_of(cache, "six", version, digit);
        row.is_upstreams = true;
        row.yanked = yanked;
        REQUIRE(catalog->add_file(row)->outcome == catalog::AddOutcome::added);
        return *catalog->file(cache, row.filename).value();
    }
    std::size_t marks() { return catalog->marks(cache, "six")->size(); }
};

}  // namespace

TEST_CASE("a mark names a file or a version, as PEP 440's == matches") {
    const auto covers = [](const std::string& name, const std::string& project, const std::string& version) {
        return catalog::covers(catalog::mark_named({cache, name}), row_of(cache, project, version, 'a'));
    };
    CHECK(covers("Six==1.0", "six", "1.0"));
    CHECK(covers("six==1.0", "six", "1.0.0"));
    CHECK(covers("six==1.0", "six", "1.0+cu126"));
    CHECK_FALSE(covers("six==1.0", "six", "1.0.1"));
    CHECK(covers("six==1.0.0+cu126", "six", "1.0+cu126"));
    CHECK_FALSE(covers("six==1.0+cu126", "six", "1.0"));
    CHECK_FALSE(covers("six==1.0", "seven", "1.0"));
    CHECK(covers(wheel_1_0, "six", "1.0"));
    CHECK_FALSE(covers(wheel_1_0, "six", "1.1"));
    for (const char* name : {"six", "six==", "six==1.*", "==1.0", "six>=1.0", "six-1.0.txt"})
        CHECK(catalog::mark_named({cache, name}).project.empty());
}

TEST_CASE("what was said of a file before it was fetched applies to it then, and can be taken back") {
    Cache upstream;
    CHECK(upstream.yank(wheel_1_0) == ChangeOutcome::changed);
    CHECK(upstream.yank(wheel_1_0) == ChangeOutcome::already_so);
    CHECK(upstream.quarantine("six==1.1") == ChangeOutcome::changed);
    const auto event = upstream.catalog->events_after(1, 1)->front();
    CHECK(event.filename == "six==1.1");
    CHECK(event.reason == "malware");
    CHECK(upstream.marks() == 2);

    upstream.catalog.reset();  // a restart
    upstream.catalog = upstream.folder.open();
    const FileRow yanked = upstream.fetched("1.0", 'a');
    CHECK(yanked.yanked);
    CHECK(yanked.yanked_reason == "malware");
    CHECK(yanked.state == FileState::active);
}

TEST_CASE("a version's mark changes the files that are there, and those that come later") {
    Cache upstream;
    CHECK(upstream.fetched("1.0", 'a').state == FileState::active);
    CHECK(upstream.quarantine("six==1.0") == ChangeOutcome::changed);
    CHECK(upstream.catalog->file(cache, wheel_1_0).value()->state == FileState::quarantined);
    CHECK(upstream.fetched("1.0.0", 'b').state_reason == "malware");
    CHECK(upstream.fetched("1.1", 'c').state == FileState::active);
    CHECK(upstream.quarantine("six==1.0", FileState::active) == ChangeOutcome::changed);
    CHECK(upstream.catalog->file(cache, wheel_1_0).value()->state == FileState::active);
    CHECK(upstream.marks() == 0);
}

TEST_CASE("files change together, each as its row is then, and none is released that a mark keeps") {
    Cache upstream;
    const FileRow one = upstream.fetched("1.0", 'a');
    const FileRow two = upstream.fetched("1.1", 'b');
    const auto is_active = [](const FileRow& row) { return row.state == FileState::active; };
    const auto is_held = [](const FileRow& row) { return row.state == FileState::quarantined; };
    const catalog::StateChange hold_one{{cache, one.filename}, FileState::quarantined, said, is_active};
    const catalog::StateChange hold_two{{cache, two.filename}, FileState::quarantined, said, is_active};
    const catalog::StateChange hold_none{{cache, "six-9-py3-none-any.whl"}, FileState::active, said, is_held};
    const auto outcomes = [&](const std::vector<catalog::StateChange>& changes) {
        std::vector<ChangeOutcome> all;
        const auto done = upstream.catalog->change_states(changes).value();
        for (const catalog::Changed& change : done)
            all.push_back(change.outcome);
        return all;
    };
    const std::int64_t commits = upstream.catalog->change_count().value();
    CHECK(outcomes({hold_one, hold_two, hold_none}) ==
          std::vector{ChangeOutcome::changed, ChangeOutcome::changed, ChangeOutcome::no_such_file});
    CHECK(outcomes({hold_one}) == std::vector{ChangeOutcome::already_so});
    CHECK(upstream.catalog->change_count().value() == commits + 1);

    CHECK(upstream.quarantine("six==1.1") == ChangeOutcome::changed);
    CHECK(outcomes({{{cache, one.filename}, FileState::active, said, is_held},
                    {{cache, two.filename}, FileState::active, said, is_held}}) ==
          std::vector{ChangeOutcome::changed, ChangeOutcome::already_so});
    CHECK(upstream.catalog->file(cache, one.filename).value()->state_reason.empty());
}

TEST_CASE("nothing is taken back that nobody said, and what is not held is not deleted") {
    Cache upstream;
    CHECK(upstream.yank(wheel_1_0, false) == ChangeOutcome::no_such_file);
    CHECK(upstream.quarantine("six==1.0", FileState::active) == ChangeOutcome::no_such_file);
    CHECK(upstream.yank("nonsense") == ChangeOutcome::no_such_file);
    CHECK(upstream.yank("six==1.0") == ChangeOutcome::changed);
    CHECK(upstream.yank(wheel_1_0, false) ==
          ChangeOutcome::said_of_another);  // the version is yanked, not the file
    CHECK(upstream.catalog->delete_file({cache, wheel_1_0}, said)->outcome == ChangeOutcome::no_such_file);
    CHECK(upstream.catalog->set_pinned({cache, wheel_1_0}, true, said)->outcome ==
          ChangeOutcome::no_such_file);
}

TEST_CASE("a yank outlives the eviction of its file") {
    Cache upstream;
    upstream.fetched("1.0", 'a');
    CHECK(upstream.yank(wheel_1_0) == ChangeOutcome::changed);
    CHECK(upstream.catalog->evict({cache, wheel_1_0}, said)->outcome == ChangeOutcome::changed);
    CHECK(upstream.fetched("1.0", 'a').yanked);
    const Serial before = upstream.catalog->last_serial().value();
    CHECK(upstream.yank(wheel_1_0, false) == ChangeOutcome::changed);
    CHECK(upstream.catalog->last_serial().value() == before + 1);  // one event for file and mark
    CHECK(upstream.marks() == 0);
}

TEST_CASE("an eviction marks neither what the upstream yanked nor what its version's mark did") {
    Cache upstream;
    upstream.fetched("1.0", 'a', true);
    CHECK(upstream.catalog->evict({cache, wheel_1_0}, said)->outcome == ChangeOutcome::changed);
    CHECK(upstream.marks() == 0);
    CHECK(upstream.yank("six==1.0") == ChangeOutcome::changed);
    CHECK(upstream.fetched("1.0", 'a').yanked);
    CHECK(upstream.catalog->evict({cache, wheel_1_0}, said)->outcome == ChangeOutcome::changed);
    CHECK(upstream.yank("six==1.0", false) == ChangeOutcome::changed);
    CHECK_FALSE(upstream.fetched("1.0", 'a').yanked);
}

TEST_CASE("a version has one mark in all its spellings, and what a wider one covers is not taken back") {
    Cache upstream;
    upstream.fetched("1.0+cu126", 'a');
    CHECK(upstream.quarantine("six==1.0") == ChangeOutcome::changed);
    CHECK(upstream.quarantine("six==1.0.0") == ChangeOutcome::already_so);
    CHECK(upstream.quarantine("six==1+cu126") == ChangeOutcome::changed);
    CHECK(upstream.quarantine("six==1+cu126", FileState::active) == ChangeOutcome::said_of_another);
    CHECK(upstream.state("1.0+cu126") == "malware");
    CHECK(upstream.quarantine("six==1.0.0", FileState::active) == ChangeOutcome::changed);
    CHECK(upstream.marks() == 1);
    CHECK(upstream.state("1.0+cu126") == "malware");  // the other mark is left
    CHECK(upstream.quarantine("six==1.0+cu126", FileState::active) == ChangeOutcome::changed);
    CHECK(upstream.state("1.0+cu126").empty());
    CHECK(upstream.marks() == 0);
}

TEST_CASE("marks add up for fetched files, too: each reason is taken back by its own name") {
    Cache upstream;
    upstream.fetched("1.0", 'a');
    upstream.fetched("1.0.0", 'b');
    CHECK(upstream.quarantine(wheel_1_0, FileState::quarantined, "verify") == ChangeOutcome::changed);
    CHECK(upstream.marks() == 0);  // its row says so
    CHECK(upstream.quarantine("six==1.0", FileState::active) == ChangeOutcome::said_of_another);
    CHECK(upstream.quarantine("six==1.0") == ChangeOutcome::changed);
    CHECK(upstream.state("1.0") == "verify");
    CHECK(upstream.state("1.0.0") == "malware");
    for (const char* version : {"1.0", "1.0.0"})
        CHECK(upstream.quarantine(row_of(cache, "six", version, 'a').filename, FileState::active) ==
              ChangeOutcome::said_of_another);
    CHECK(upstream.quarantine("six==1.0", FileState::quarantined, "worse") == ChangeOutcome::changed);
    CHECK(upstream.state("1.0.0") == "worse");
    CHECK(upstream.quarantine("six==1.0", FileState::active) == ChangeOutcome::changed);
    CHECK(upstream.state("1.0") == "verify");
    CHECK(upstream.state("1.0.0").empty());
    CHECK(upstream.quarantine(wheel_1_0, FileState::active) == ChangeOutcome::changed);
    CHECK(upstream.state("1.0").empty());
}

TEST_CASE("who adds a marked file learns that it is in quarantine, also when it is there already") {
    Cache upstream;
    CHECK(upstream.quarantine("six==1.0") == ChangeOutcome::changed);
    FileRow row = row_of(cache, "six", "1.0", 'a');
    row.is_upstreams = true;
    for (int time = 0; time < 2; ++time) {
        const catalog::Added added = upstream.catalog->add_file(row).value();
        CHECK(added.state == FileState::quarantined);
        CHECK(added.state_reason == "malware");
    }
}

TEST_CASE(
    "a project's status before anything was fetched: one in quarantine takes no files, an archived one "
    "does") {
    Cache upstream;
    const auto set = [&](catalog::ProjectStatus status) {
        return upstream.catalog
            ->set_project_status({.index = cache, .project = "six", .status = status, .status_reason = "why"},
                                 said)
            ->outcome;
    };
    CHECK(set(catalog::ProjectStatus::active) == ChangeOutcome::no_such_project);
    CHECK(upstream.catalog->projects(cache)->empty());
    CHECK(set(catalog::ProjectStatus::quarantined) == ChangeOutcome::changed);
    FileRow row = row_of(cache, "six", "1.0", 'a');
    row.is_upstreams = true;
    CHECK(upstream.catalog->add_file(row)->outcome == catalog::AddOutcome::project_closed);
    CHECK(set(catalog::ProjectStatus::archived) == ChangeOutcome::changed);
    CHECK(upstream.catalog->add_file(row)->outcome == catalog::AddOutcome::added);
}

TEST_CASE("an upstream has as many marks as people can look after") {
    const catalog::CatalogFolder folder{catalog::InSqlite{}};
    const auto catalog = folder.open();
    const auto database = sqlite::Database::open(folder.file, sqlite::Database::Mode::read_write).value();
    REQUIRE(
        database.run("INSERT INTO upstream_mark WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                     "FROM n WHERE i < ?) SELECT 'main.pypi', 'six', 'six==' || i, 1, 'old', 'active', '' "
                     "FROM n",
                     static_cast<std::int64_t>(catalog::max_marks)));
    CHECK(catalog->set_yanked({cache, "six==1.0.1"}, true, said)->outcome == ChangeOutcome::too_many_marks);
    CHECK(catalog->set_yanked({cache, "six==1"}, false, said)->outcome == ChangeOutcome::changed);
    CHECK(catalog->set_yanked({cache, "six==1.0.1"}, true, said)->outcome == ChangeOutcome::changed);
    CHECK(catalog->set_yanked({"main", wheel_1_0}, true, said)->outcome == ChangeOutcome::no_such_file);
}
