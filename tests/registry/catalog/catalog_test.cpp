// The catalog: names keep their bytes, serials go on, of many writers one wins.
#include "registry/catalog/catalog.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "registry/catalog/file_row.hpp"
#include "registry/catalog/sqlite.hpp"
#include "tests/registry/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::AddOutcome;
using catalog::Catalog;

namespace {

using Fixture = catalog::CatalogFolder;
using catalog::row_of;

}  // namespace

TEST_CASE("an added file is there, with an event that carries the whole row") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    CHECK(catalog.last_serial().value() == 0);
    const catalog::FileRow row = row_of("main", "six", "1.16.0");
    const auto added = catalog.add_file(row);
    REQUIRE(added.has_value());
    CHECK(added->outcome == AddOutcome::added);
    CHECK(added->serial == 1);
    CHECK(catalog.last_serial().value() == 1);
    const auto there = catalog.file("main", row.filename).value();
    REQUIRE(there.has_value());
    CHECK(catalog::render_file_row(*there) == catalog::render_file_row(row));
    const auto events = catalog.events_after(0, 10).value();
    REQUIRE(events.size() == 1);
    CHECK(events[0].serial == 1);
    CHECK(events[0].time == row.upload_time);
    CHECK(events[0].index == "main");
    CHECK(events[0].project == "six");
    CHECK(events[0].filename == row.filename);
    CHECK(events[0].details_json == catalog::render_file_row(row));
}

TEST_CASE("the same bytes under the same name are there already, with the serial of the first time") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    REQUIRE(catalog.add_file(row_of("main", "other", "1.0")));
    REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0")));
    REQUIRE(catalog.add_file(row_of("main", "another", "1.0")));
    catalog::FileRow again = row_of("main", "six", "1.16.0");
    again.uploaded_by = "somebody else";
    const auto added = catalog.add_file(again).value();
    CHECK(added.outcome == AddOutcome::already_there);
    CHECK(added.serial == 2);
    CHECK(catalog.last_serial().value() == 3);
    CHECK(catalog.file("main", again.filename).value()->uploaded_by == "agent");
}

TEST_CASE("a name keeps its bytes: adding others reports the stored hash and changes nothing") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0", 'a')));
    const auto added = catalog.add_file(row_of("main", "six", "1.16.0", 'b')).value();
    CHECK(added.outcome == AddOutcome::name_taken);
    CHECK(added.sha256_there == std::string(64, 'a'));
    CHECK(catalog.last_serial().value() == 1);
}

TEST_CASE("after a clean end the file alone holds every row, also where a reader stays longer") {
    const Fixture fixture;
    std::optional<Catalog> reader;
    {
        Catalog catalog = fixture.open();
        reader = fixture.open(Catalog::Mode::read_only);
        REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0")));
    }
    const std::filesystem::path copy = fixture.dir.path() / "copy";
    std::filesystem::copy_file(fixture.file, copy);
    CHECK(Catalog::open(copy, Catalog::Mode::read_only)->last_serial().value() == 1);
}

TEST_CASE("the log stays beside the file when the last connection closes, but not where it is opened alone") {
    const Fixture fixture;
    const std::filesystem::path log = fixture.file.string() + "-wal";
    { REQUIRE(fixture.open().add_file(row_of("main", "six", "1.16.0"))); }
    REQUIRE(std::filesystem::exists(log));
    CHECK(std::filesystem::file_size(log) == 0);  // all of it is in the file
    { CHECK(fixture.open(Catalog::Mode::read_only).last_serial().value() == 1); }
    CHECK(std::filesystem::exists(log));

    const std::filesystem::path copy = fixture.dir.path() / "copy";
    REQUIRE(fixture.open().copy_to(copy));
    { REQUIRE(Catalog::open(copy, Catalog::Mode::alone)->add_file(row_of("main", "six", "1.17.0"))); }
    CHECK_FALSE(std::filesystem::exists(copy.string() + "-wal"));
    CHECK(Catalog::open(copy, Catalog::Mode::read_only)->last_serial().value() == 2);
}

TEST_CASE("two indexes may hold different bytes under one name") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    CHECK(catalog.add_file(row_of("bede", "torch", "2.4.0", 'a'))->outcome == AddOutcome::added);
    CHECK(catalog.add_file(row_of("frontier", "torch", "2.4.0", 'b'))->outcome == AddOutcome::added);
    CHECK(catalog.indexes().value() == std::vector<std::string>{"bede", "frontier"});
}

TEST_CASE("a deleted name is never used again, not even for the same bytes") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    {
        const auto database =
            catalog::Database::open(fixture.file, catalog::Database::Mode::read_write).value();
        REQUIRE(database.run("INSERT INTO tombstone VALUES ('main', 'six-1.16.0-py3-none-any.whl', ?, 1, 0)",
                             std::string(64, 'a')));
    }
    CHECK(catalog.add_file(row_of("main", "six", "1.16.0"))->outcome == AddOutcome::name_was_deleted);
    CHECK(catalog.add_file(row_of("other", "six", "1.16.0"))->outcome == AddOutcome::added);
}

TEST_CASE("projects are sorted by name, files by version text and name, each index by itself") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    for (const char* version : {"2.0", "1.0", "10.0"})
        REQUIRE(catalog.add_file(row_of("main", "zlib-ng", version)));
    REQUIRE(catalog.add_file(row_of("main", "attrs", "1.0")));
    REQUIRE(catalog.add_file(row_of("other", "six", "1.0")));
    CHECK(catalog.projects("main").value() == std::vector<std::string>{"attrs", "zlib-ng"});
    CHECK(catalog.projects("nothing").value().empty());
    std::vector<std::string> versions;
    const auto files = catalog.files("main", "zlib-ng").value();
    for (const auto& file : files)
        versions.push_back(file.version);
    CHECK(versions == std::vector<std::string>{"1.0", "10.0", "2.0"});
    CHECK(catalog.files("main", "six").value().empty());
    CHECK_FALSE(catalog.file("main", "six-1.0-py3-none-any.whl").value().has_value());
}

TEST_CASE("what a page is made of is the files of one project, without what no page says") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    auto row = row_of("main", "six", "1.16.0", 'a');
    row.requires_python = ">=3.8, <4";
    row.metadata_name = "Six";
    row.yanked = true;
    row.yanked_reason = "slow";
    REQUIRE(catalog.add_file(row));
    REQUIRE(catalog.add_file(row_of("main", "six", "1.17.0", 'b')));
    REQUIRE(catalog.add_file(row_of("main", "seven", "1", 'c')));
    REQUIRE(catalog.add_file(row_of("other", "six", "1.16.0", 'd')));
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = 1};
    REQUIRE(catalog.set_file_state({"main", "six-1.17.0-py3-none-any.whl"}, catalog::FileState::quarantined,
                                   cause));
    // Nothing of what was there before shows through.
    catalog::FileRow used{.index = "other",
                          .project = "nine",
                          .filename = "nine-9-py3-none-any.whl",
                          .version = "9",
                          .sha256 = std::string(64, '9'),
                          .size_bytes = 9,
                          .metadata_sha256 = std::string(64, '8'),
                          .metadata_size_bytes = 8,
                          .requires_python = ">=2.7",
                          .upload_time = 7,
                          .uploaded_by = "old",
                          .yanked = true,
                          .yanked_reason = "old",
                          .facts_json = R"({"old":1})",
                          .state = catalog::FileState::quarantined,
                          .state_reason = "old",
                          .pinned = true,
                          .metadata_name = "Nine"};
    std::vector<catalog::FileRow> files;
    REQUIRE(catalog.read_files_of_page("main", "six", files));
    CHECK(files.size() == 2);
    files.assign(3, used);
    REQUIRE(catalog.read_files_of_page("main", "six", files));
    REQUIRE(files.size() == 2);
    if (files[0].version != "1.16.0") std::swap(files[0], files[1]);
    CHECK(files[0].index == "main");
    CHECK(files[0].project == "six");
    CHECK(files[0].filename == row.filename);
    CHECK(files[0].sha256 == row.sha256);
    CHECK(files[0].size_bytes == row.size_bytes);
    CHECK(files[0].metadata_sha256 == row.metadata_sha256);
    CHECK(files[0].metadata_size_bytes == row.metadata_size_bytes);
    CHECK(files[0].requires_python == row.requires_python);
    CHECK(files[0].upload_time == row.upload_time);
    CHECK(files[0].yanked);
    CHECK(files[0].yanked_reason == row.yanked_reason);
    CHECK(files[0].facts_json == row.facts_json);
    CHECK(files[0].state == catalog::FileState::active);
    CHECK(files[0].metadata_name == row.metadata_name);
    CHECK(files[0].uploaded_by.empty());
    CHECK(files[1].state == catalog::FileState::quarantined);
    CHECK(!files[1].yanked);
    CHECK(files[1].yanked_reason.empty());
    CHECK(files[1].state_reason.empty());
    CHECK(files[1].metadata_name.empty());
    CHECK(files[1].metadata_size_bytes == row.metadata_size_bytes);
    CHECK(!files[1].pinned);
    REQUIRE(catalog.read_files_of_page("main", "eight", files));
    CHECK(files.empty());
}

TEST_CASE("events are read for pages without the details of files that are there, and with those that left") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    const auto row = row_of("main", "six", "1.16.0");
    REQUIRE(catalog.add_file(row));
    REQUIRE(catalog.delete_file({"main", row.filename}, {.actor = "anna", .reason = "bad", .time = 1}));
    std::vector<catalog::Event> events;
    const auto take = [&](catalog::Event& event) -> base::Status {
        events.push_back(std::move(event));
        return {};
    };
    REQUIRE(catalog.for_each_event(0, catalog::newest_of_all, take, catalog::EventParts::of_pages));
    REQUIRE(events.size() == 2);
    CHECK(events[0].filename == row.filename);
    CHECK(events[0].details_json.empty());
    CHECK(events[1].details_json.find(row.sha256) != std::string::npos);
    CHECK(events[1].actor.empty());
    CHECK(events[1].reason.empty());
}

TEST_CASE("events come in order, after a serial, at most so many") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    for (int i = 0; i < 5; ++i)
        REQUIRE(catalog.add_file(row_of("main", "p" + std::to_string(i), "1.0")));
    const auto some = catalog.events_after(1, 2).value();
    REQUIRE(some.size() == 2);
    CHECK(some[0].serial == 2);
    CHECK(some[1].serial == 3);
    CHECK(catalog.events_after(5, 10).value().empty());
}

TEST_CASE("an event of a kind that this program does not know is an error, not skipped") {
    const Fixture fixture;
    const Catalog catalog = fixture.open();
    const auto database = catalog::Database::open(fixture.file, catalog::Database::Mode::read_write).value();
    REQUIRE(
        database.run("INSERT INTO event (kind, time, index_name, project, filename, details_json) VALUES "
                     "('file_invented', 1, 'a', 'b', "
                     "'c', '{}')"));
    CHECK(catalog.events_after(0, 10).error().code == "catalog.unknown_event");
}

TEST_CASE("what is committed survives: a catalog opened again has it all, and serials go on") {
    const Fixture fixture;
    {
        Catalog catalog = fixture.open();
        REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0")));
    }
    Catalog again = fixture.open();
    CHECK(again.last_serial().value() == 1);
    CHECK(again.add_file(row_of("main", "six", "1.17.0"))->serial == 2);
}

TEST_CASE("a serial is never given twice, even after rows were deleted by hand") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0")));
    {
        const auto database =
            catalog::Database::open(fixture.file, catalog::Database::Mode::read_write).value();
        REQUIRE(database.run_script("DELETE FROM file; DELETE FROM event;"));
    }
    CHECK(catalog.add_file(row_of("main", "six", "1.17.0"))->serial == 2);
}

TEST_CASE("a reader sees a commit at once and only when another connection commits does data_version move") {
    const Fixture fixture;
    Catalog writer = fixture.open();
    const Catalog reader = fixture.open(Catalog::Mode::read_only);
    const auto before = reader.data_version().value();
    CHECK(reader.data_version().value() == before);
    REQUIRE(writer.add_file(row_of("main", "six", "1.16.0")));
    CHECK(reader.data_version().value() != before);
    CHECK(reader.last_serial().value() == 1);
}

TEST_CASE("of many connections that add one name with different bytes, exactly one wins") {
    const Fixture fixture;
    { const Catalog made = fixture.open(); }
    constexpr int contenders = 6;
    std::atomic<int> winners = 0;
    std::atomic<int> losers = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < contenders; ++i) {
        threads.emplace_back([&fixture, &winners, &losers, i] {
            Catalog catalog = fixture.open();
            const auto added = catalog.add_file(row_of("main", "six", "1.16.0", static_cast<char>('0' + i)));
            if (!added) return;
            (added->outcome == AddOutcome::added ? winners : losers) +=
                added->outcome == AddOutcome::already_there ? 0 : 1;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(winners == 1);
    CHECK(losers == contenders - 1);
    CHECK(fixture.open().last_serial().value() == 1);
}

TEST_CASE("tokens keep their scope; a revoked one stays in the list") {
    const Fixture fixture;
    Catalog catalog = fixture.open();
    const catalog::TokenRow row{.id = "wy_0123456789ab",
                                .secret_sha256 = std::string(64, 'c'),
                                .name = "bede agent",
                                .indexes = {"bede", "staging"},
                                .projects = {"torch"},
                                .actions = {"upload"},
                                .created = 5,
                                .expires = 7,
                                .revoked = false};
    REQUIRE(catalog.add_token(row));
    CHECK(catalog.add_token(row).error().code == "catalog.constraint");
    auto tokens = catalog.tokens().value();
    REQUIRE(tokens.size() == 1);
    CHECK(tokens[0].id == row.id);
    CHECK(tokens[0].secret_sha256 == row.secret_sha256);
    CHECK(tokens[0].name == row.name);
    CHECK(tokens[0].indexes == row.indexes);
    CHECK(tokens[0].projects == row.projects);
    CHECK(tokens[0].actions == row.actions);
    CHECK(tokens[0].created == 5);
    CHECK(tokens[0].expires == 7);
    CHECK_FALSE(tokens[0].revoked);
    CHECK(catalog.revoke_token(row.id, {}).value());
    CHECK_FALSE(catalog.revoke_token("wy_ffffffffffff", {}).value());
    CHECK(catalog.tokens().value()[0].revoked);
}

TEST_CASE("opening for reading needs a catalog") {
    const Fixture fixture;
    CHECK(Catalog::open(fixture.file, Catalog::Mode::read_only).error().code == "catalog.missing");
}
