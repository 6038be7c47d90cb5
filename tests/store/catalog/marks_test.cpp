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

namespace {

const std::string cache = "main.pypi";
const std::string six = "six-1.0-py3-none-any.whl";
const catalog::Cause cause{.actor = "anna", .reason = "malware", .time = 1'795'000'000'000'777};

struct Cache {
    catalog::CatalogFolder folder;
    std::unique_ptr<catalog::Catalog> catalog = folder.open();

    ChangeOutcome yank(const std::string& name, bool yanked = true) {
        return catalog->set_yanked({cache, name}, yanked, cause)->outcome;
    }
    ChangeOutcome quarantine(const std::string& name, FileState state = FileState::quarantined) {
        return catalog->set_file_state({cache, name}, state, cause)->outcome;
    }
    // The file as it is once it was fetched.
    FileRow fetched(const std::string& version, char digit) {
        FileRow row = row_of(cache, "six", version, digit);
        row.is_upstreams = true;
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
    CHECK_FALSE(covers("six==1.0", "seven", "1.0"));
    CHECK(covers(six, "six", "1.0"));
    CHECK_FALSE(covers(six, "six", "1.1"));
    for (const char* name : {"six", "six==", "six==1.*", "==1.0", "six>=1.0", "six-1.0.txt"})
        CHECK(catalog::mark_named({cache, name}).project.empty());
}

TEST_CASE("what was said of a file before it was fetched applies to it then, and can be taken back") {
    Cache upstream;
    CHECK(upstream.yank(six) == ChangeOutcome::changed);
    CHECK(upstream.yank(six) == ChangeOutcome::already_so);
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
    CHECK(upstream.catalog->file(cache, six).value()->state == FileState::quarantined);
    CHECK(upstream.fetched("1.0.0", 'b').state_reason == "malware");
    CHECK(upstream.fetched("1.1", 'c').state == FileState::active);
    CHECK(upstream.quarantine("six==1.0", FileState::active) == ChangeOutcome::changed);
    CHECK(upstream.catalog->file(cache, six).value()->state == FileState::active);
    CHECK(upstream.marks() == 0);
}

TEST_CASE("nothing is taken back that nobody said, and what is not held is not deleted") {
    Cache upstream;
    CHECK(upstream.yank(six, false) == ChangeOutcome::no_such_file);
    CHECK(upstream.quarantine("six==1.0", FileState::active) == ChangeOutcome::no_such_file);
    CHECK(upstream.yank("nonsense") == ChangeOutcome::no_such_file);
    CHECK(upstream.yank("six==1.0") == ChangeOutcome::changed);
    CHECK(upstream.yank(six, false) == ChangeOutcome::no_such_file);  // the version is yanked, not the file
    CHECK(upstream.catalog->delete_file({cache, six}, cause)->outcome == ChangeOutcome::no_such_file);
    CHECK(upstream.catalog->set_pinned({cache, six}, true, cause)->outcome == ChangeOutcome::no_such_file);
}

TEST_CASE("a yank outlives the eviction of its file") {
    Cache upstream;
    upstream.fetched("1.0", 'a');
    CHECK(upstream.yank(six) == ChangeOutcome::changed);
    CHECK(upstream.catalog->evict({cache, six}, cause)->outcome == ChangeOutcome::changed);
    CHECK(upstream.fetched("1.0", 'a').yanked);
    CHECK(upstream.yank(six, false) == ChangeOutcome::changed);
    CHECK(upstream.marks() == 0);
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
    CHECK(catalog->set_yanked({cache, "six==1.0.1"}, true, cause)->outcome == ChangeOutcome::too_many_marks);
    CHECK(catalog->set_yanked({cache, "six==1"}, false, cause)->outcome == ChangeOutcome::changed);
    CHECK(catalog->set_yanked({cache, "six==1.0.1"}, true, cause)->outcome == ChangeOutcome::changed);
    CHECK(catalog->set_yanked({"main", six}, true, cause)->outcome == ChangeOutcome::no_such_file);
}
