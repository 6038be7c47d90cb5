// The catalog: names keep their bytes, serials go on, of many writers one wins.
#include "lib/store/catalog/catalog.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/text/text.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::AddOutcome;
using catalog::Catalog;

namespace {

using Fixture = catalog::CatalogFolder;
using catalog::row_of;

}  // namespace

TEST_CASE("an added file is there, with an event that carries the whole row") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
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
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
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
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0", 'a')));
    const auto added = catalog.add_file(row_of("main", "six", "1.16.0", 'b')).value();
    CHECK(added.outcome == AddOutcome::name_taken);
    CHECK(added.sha256_there == std::string(64, 'a'));
    CHECK(catalog.last_serial().value() == 1);
}

TEST_CASE("two indexes may hold different bytes under one name") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    CHECK(catalog.add_file(row_of("bede", "torch", "2.4.0", 'a'))->outcome == AddOutcome::added);
    CHECK(catalog.add_file(row_of("frontier", "torch", "2.4.0", 'b'))->outcome == AddOutcome::added);
    CHECK(catalog.indexes().value() == std::vector<std::string>{"bede", "frontier"});
}

TEST_CASE("projects are sorted by name, files by version text and name, each index by itself") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
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

TEST_CASE("files are found by a part of their names, whatever its case and separators, and by nothing else") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    for (const char* name :
         {"flash_attn-2.7.0-cp312-cp312-linux_aarch64.whl", "torch-2.7.0-cp312-cp312-linux_aarch64.whl",
          "torch-2.7.0-cp311-cp311-linux_x86_64.whl", "PyYAML-6.0.tar.gz"}) {
        auto row = row_of("main", "some", "1");
        row.filename = name;
        REQUIRE(catalog.add_file(row));
    }
    REQUIRE(catalog.set_file_state({"main", "PyYAML-6.0.tar.gz"}, catalog::FileState::quarantined,
                                   {.actor = "anna", .reason = "odd"}));
    const auto found = [&](const std::string& part, std::optional<catalog::FileState> state = {}) {
        std::vector<std::string> names;
        const auto rows = catalog.files_after("main", "", 10, {.state = state, .name_part = part}).value();
        for (const catalog::FileRow& row : rows)
            names.push_back(row.filename.substr(0, row.filename.find('-')));
        std::sort(names.begin(), names.end());
        return base::join(names, " ");
    };
    CHECK(found("") == "PyYAML flash_attn torch torch");
    CHECK(found("cp312") == "flash_attn torch");
    CHECK(found("flash-attn") == "flash_attn");
    CHECK(found("Flash.Attn-2.7") == "flash_attn");
    CHECK(found("pyyaml") == "PyYAML");
    CHECK(found("pyyaml", catalog::FileState::active).empty());
    CHECK(found("torch-2.7.0-cp311-cp311-linux_x86_64.whl") == "torch");
    for (const char* none : {"tor%h", "t_rch", "torch!", "%", "!", "numpy"})
        CHECK_MESSAGE(found(none).empty(), none);
    CHECK(catalog.files_after("other", "", 10, {.name_part = "torch"}).value().empty());
    CHECK(catalog.files_after("main", "", 1, {.name_part = "2.7"}).value().size() == 1);
}

TEST_CASE("what a page is made of is the files of one project, without what no page says") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
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
    catalog::FileRow used{{.filename = "nine-9-py3-none-any.whl",
                           .yanked = true,
                           .yanked_reason = "old",
                           .requires_python = ">=2.7",
                           .upload_time = 7,
                           .size_bytes = 9,
                           .sha256 = std::string(64, '9'),
                           .metadata_sha256 = std::string(64, '8')},
                          "other",
                          "nine",
                          "9",
                          8,
                          "old",
                          R"({"old":1})",
                          catalog::FileState::quarantined,
                          "old",
                          true,
                          "Nine"};
    std::vector<catalog::FileRow> files;
    std::vector<catalog::FileRow> of_seven;
    std::vector<catalog::FileRow> of_eight(1, used);
    const std::vector<catalog::PageFiles> pages{{"eight", &of_eight}, {"six", &files}, {"seven", &of_seven}};
    REQUIRE(catalog.read_files_of_pages("main", pages));
    CHECK(files.size() == 2);
    files.assign(3, used);
    REQUIRE(catalog.read_files_of_pages("main", pages));
    REQUIRE(of_seven.size() == 1);
    CHECK(of_seven[0].project == "seven");
    CHECK(of_eight.empty());
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
    REQUIRE(catalog.read_files_of_pages("main", {}));
}

TEST_CASE("files that came later are left out of a page, unless it has no others") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    REQUIRE(catalog.add_file(row_of("main", "six", "1", 'a')));
    REQUIRE(catalog.add_file(row_of("main", "six", "2", 'b')));
    REQUIRE(catalog.add_file(row_of("main", "seven", "1", 'c')));
    std::vector<catalog::FileRow> of_six;
    std::vector<catalog::FileRow> of_seven;
    const std::vector<catalog::PageFiles> pages{{"six", &of_six}, {"seven", &of_seven}};
    REQUIRE(catalog.read_files_of_pages("main", pages, 1));
    REQUIRE(of_six.size() == 1);
    CHECK(of_six[0].version == "1");
    CHECK(of_seven.size() == 1);
}

TEST_CASE("many projects are looked up at once, with their status and the number of their files") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    const catalog::Cause cause{.actor = "anna", .reason = "bad", .time = 1};
    REQUIRE(catalog.add_file(row_of("main", "six", "1", 'a')));
    REQUIRE(catalog.add_file(row_of("main", "six", "2", 'b')));
    REQUIRE(catalog.add_file(row_of("main", "seven", "1", 'c')));
    REQUIRE(catalog.add_file(row_of("other", "six", "1", 'd')));
    REQUIRE(catalog.add_file(row_of("other", "eight", "1", 'e')));
    REQUIRE(catalog.delete_file({"main", "seven-1-py3-none-any.whl"}, cause));
    REQUIRE(catalog.set_project_status({.index = "main",
                                        .project = "six",
                                        .status = catalog::ProjectStatus::archived,
                                        .status_reason = "old"},
                                       cause));
    std::vector<std::string> names{"seven", "eight", "six"};
    for (std::size_t number = names.size(); number < catalog::max_projects_at_once; ++number)
        names.push_back("unknown" + std::to_string(number));
    auto heads = catalog.project_heads("main", names).value();
    REQUIRE(heads.size() == 2);
    if (heads[0].row.project != "six") std::swap(heads[0], heads[1]);
    CHECK(heads[0].row.index == "main");
    CHECK(heads[0].row.status == catalog::ProjectStatus::archived);
    CHECK(heads[0].row.status_reason == "old");
    CHECK(heads[0].files == 2);
    CHECK(heads[1].row.project == "seven");
    CHECK(heads[1].row.status == catalog::ProjectStatus::active);
    CHECK(heads[1].files == 0);
    CHECK(catalog.project_heads("main", {}).value().empty());
}

TEST_CASE("events are read for pages without the details of files that are there, and with those that left") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
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
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    for (int i = 0; i < 5; ++i)
        REQUIRE(catalog.add_file(row_of("main", "p" + std::to_string(i), "1.0")));
    const auto some = catalog.events_after(1, 2).value();
    REQUIRE(some.size() == 2);
    CHECK(some[0].serial == 2);
    CHECK(some[1].serial == 3);
    CHECK(catalog.events_after(5, 10).value().empty());
}

TEST_CASE("events are found by who, what and when, the first or the last ones, in order") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    auto six = row_of("main", "six", "1.16.0");
    six.uploaded_by = "CI_1";
    six.upload_time = 100;
    auto other = row_of("lab", "other", "1.0");
    other.uploaded_by = "ci-11";
    other.upload_time = 200;
    REQUIRE(catalog.add_file(six));
    REQUIRE(catalog.add_file(other));
    REQUIRE(
        catalog.set_yanked({"main", six.filename}, true, {.actor = "anna", .reason = "bad", .time = 300}));
    const auto found = [&](const catalog::EventFilter& filter, catalog::EventRange range = {}) {
        if (range.limit == 0) range.limit = 10;
        std::string serials;
        const auto events = catalog.find_events(filter, range).value();
        for (const auto& event : events)
            serials += std::to_string(event.serial);
        return serials;
    };
    CHECK(found({}) == "123");
    CHECK(found({.who = "ci"}) == "12");
    CHECK(found({.who = "ci_1"}) == "1");  // no wildcard
    CHECK(found({.who = "%"}) == "");
    CHECK(found({.who = "Anna Anders", .people = " anna "}) == "3");
    CHECK(found({.who = "Anna Anders", .people = " joanna annabel "}) == "");
    CHECK(found({.who = "ci-11", .people = " joanna anna "}) == "23");
    CHECK(found({.kind = "YANK"}) == "3");
    CHECK(found({.what = "six-1.16"}) == "13");
    CHECK(found({.what = "OTH"}) == "2");
    CHECK(found({.index = "lab"}) == "2");
    CHECK(found({.index = "la"}) == "");
    CHECK(found({.project = "six"}) == "13");
    CHECK(found({.filename = other.filename}) == "2");
    CHECK(found({.from = 200}) == "23");
    CHECK(found({.from = 100, .until = 200}) == "1");
    CHECK(found({}, {.after = 1, .before = 3}) == "2");
    CHECK(found({}, {.limit = 2}) == "12");
    CHECK(found({}, {.limit = 2, .is_newest = true}) == "23");
    CHECK(found({.index = "main"}, {.limit = 1, .is_newest = true}) == "3");
    const auto yank = catalog.find_events({.kind = "yank"}, {.limit = 1}).value().at(0);
    CHECK(yank.actor + yank.reason + yank.filename == "annabad" + six.filename);
    CHECK(yank.details_json.empty());
}

TEST_CASE("days and times of a filter: the last day is whole, a last time is in it") {
    catalog::EventFilter filter;
    REQUIRE(catalog::read_times("1970-01-02", "1970-01-02", filter));
    CHECK(filter.from == 86'400'000'000);
    CHECK(filter.until == 2 * 86'400'000'000);
    REQUIRE(catalog::read_times("", "1970-01-01T00:00:01Z", filter));
    CHECK(filter.until == 1'000'001);
    CHECK(catalog::read_times("yesterday", "", filter).error().code == "audit.time");
    CHECK(catalog::read_times("", "1970-13-01", filter).error().code == "audit.time");
}

TEST_CASE("what an index keeps, by the day it came") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    constexpr base::UnixMicros day = 86'400'000'000;
    std::uint64_t bytes = 0;
    for (const auto& [name, time] :
         {std::pair("a", 3 * day - 1), {"b", 3 * day}, {"c", 4 * day - 1}, {"d", 9 * day}}) {
        auto row = row_of("main", name, "1.0");
        row.upload_time = time;
        REQUIRE(catalog.add_file(row));
        bytes = row.size_bytes;
    }
    REQUIRE(catalog.add_file(row_of("lab", "else", "1.0")));
    const auto days = catalog.usage_by_day("main", 3 * day).value();
    REQUIRE(days.size() == 2);
    CHECK(days[0].day == 3);
    CHECK(days[0].files == 2);
    CHECK(days[0].bytes == 2 * bytes);
    CHECK(days[1].day == 9);
    CHECK(catalog.usage_by_day("main", 0).value().size() == 3);
}

TEST_CASE("what is committed survives: a catalog opened again has it all, and serials go on") {
    const Fixture fixture;
    {
        const auto catalog_opened = fixture.open();
        Catalog& catalog = *catalog_opened;
        REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0")));
    }
    const auto again_opened = fixture.open();
    Catalog& again = *again_opened;
    CHECK(again.last_serial().value() == 1);
    CHECK(again.add_file(row_of("main", "six", "1.17.0"))->serial == 2);
}

TEST_CASE(
    "a reader sees a commit at once, and the number of changes moves with every one and with nothing else") {
    const Fixture fixture;
    const auto writer = fixture.open();
    const auto reader = fixture.open(catalog::SqliteMode::read_only);
    const auto before = reader->change_count().value();
    CHECK(reader->change_count().value() == before);
    REQUIRE(writer->add_file(row_of("main", "six", "1.16.0")));
    CHECK(reader->change_count().value() == before + 1);
    CHECK(reader->last_serial().value() == 1);
    REQUIRE(writer->add_file(row_of("main", "six", "1.16.0")));       // it is there
    REQUIRE(writer->add_file(row_of("main", "six", "1.16.0", 'b')));  // refused
    REQUIRE(writer->try_write());
    CHECK(reader->change_count().value() == before + 1);
    catalog::TokenRow token;
    token.id = "wy_0123456789ab";
    token.secret_sha256 = std::string(64, 'c');
    REQUIRE(writer->add_token(token));
    CHECK(reader->change_count().value() == before + 2);
    CHECK_FALSE(writer->add_token(token));
    CHECK(writer->revoke_token(token.id, {.actor = "anna"}).value());
    CHECK(reader->change_count().value() == before + 3);
    CHECK(writer->revoke_token(token.id, {.actor = "bert"}).value());
    CHECK(writer->tokens()->at(0).revoked_by == "anna");
    CHECK(reader->change_count().value() == before + 3);
    REQUIRE(writer->set_index_rules({{.index = "main", .is_private = true}}, {.actor = "anna"}));
    CHECK(reader->change_count().value() == before + 4);
    REQUIRE(writer->set_index_rules({{.index = "main", .is_private = true}}, {.actor = "bert"}));
    CHECK(reader->change_count().value() == before + 4);
    REQUIRE(writer->drop_tokens({}));
    CHECK(writer->change_count().value() == before + 4);
    // Revoked and added is one change; where the ID is taken nothing is.
    catalog::TokenRow next = token;
    next.id = "wy_0123456789ac";
    const auto replace = [&writer](const catalog::TokenChange& change) {
        return writer->replace_tokens([&change](const auto&) { return change; });
    };
    CHECK_FALSE(replace({.added = {next, token}, .revoked = {}, .cause = {.actor = "anna"}}));
    CHECK(reader->tokens()->size() == 1);
    REQUIRE(replace({.added = {next}, .revoked = {}, .cause = {.actor = "anna"}}));
    CHECK(reader->change_count().value() == before + 5);
    catalog::TokenRow last = token;
    last.id = "wy_0123456789ad";
    REQUIRE(replace({.added = {last}, .revoked = {next.id}, .cause = {.actor = "bert", .time = 7}}));
    CHECK(reader->change_count().value() == before + 6);
    REQUIRE(replace({}));
    CHECK(reader->change_count().value() == before + 6);
    CHECK(reader->tokens()->at(1).revoked_by == "bert");
    CHECK(reader->tokens()->at(1).revoked_at == 7);
    CHECK_FALSE(reader->tokens()->at(2).revoked);
    REQUIRE(writer->drop_tokens({token.id, next.id, last.id, "wy_ffffffffffff"}));
    CHECK(reader->change_count().value() == before + 7);
    CHECK(reader->tokens()->empty());
}

TEST_CASE(
    "a token that is revoked keeps who revoked it and when, also where another change revokes it again") {
    const Fixture fixture;
    const auto writer = fixture.open();
    catalog::TokenRow token;
    token.id = "wy_0123456789ab";
    token.secret_sha256 = std::string(64, 'c');
    REQUIRE(writer->add_token(token));
    for (const catalog::Cause& cause : {catalog::Cause{.actor = "anna", .reason = {}, .time = 7},
                                        catalog::Cause{.actor = "bert", .reason = {}, .time = 8}}) {
        REQUIRE(writer->replace_tokens([&](const auto& rows) {
            return catalog::TokenChange{.added = {}, .revoked = {rows.at(0).id}, .cause = cause};
        }));
    }
    CHECK(writer->tokens()->at(0).revoked_by == "anna");
    CHECK(writer->tokens()->at(0).revoked_at == 7);
}

TEST_CASE("a change of tokens sees the rows that it changes: none of another writer comes in between") {
    const Fixture fixture;
    constexpr int writers = 3;
    constexpr int changes = 15;
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i) {
        threads.emplace_back([&] {
            const auto writer = fixture.open();
            for (int k = 0; k < changes; ++k) {
                // Two that see the same rows take the same ID.
                const auto added = writer->replace_tokens([](const std::vector<catalog::TokenRow>& rows) {
                    catalog::TokenRow row;
                    row.id = "wy_" + std::to_string(rows.size());
                    row.secret_sha256 = std::string(64, 'c');
                    return catalog::TokenChange{.added = {row}, .revoked = {}, .cause = {}};
                });
                if (!added) ++failures;
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(failures == 0);
    CHECK(fixture.open()->tokens()->size() == writers * changes);
}

TEST_CASE("who waits for a change is woken by it, and otherwise waits no longer than asked") {
    const Fixture fixture;
    const auto writer = fixture.open();
    const auto seen = writer->change_count().value();
    const auto start = std::chrono::steady_clock::now();
    CHECK(writer->wait_change(seen, 30).value() == seen);
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(30));
    CHECK(writer->wait_change(seen - 1, 60'000).value() == seen);  // it has moved already
    std::thread other([&fixture] {
        const auto late = fixture.open();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        static_cast<void>(late->add_file(row_of("main", "six", "1.16.0")));
    });
    CHECK(writer->wait_change(seen, 60'000).value() == seen + 1);
    other.join();
}

TEST_CASE("of many connections that add one name with different bytes, exactly one wins") {
    const Fixture fixture;
    { const auto made = fixture.open(); }
    constexpr int contenders = 6;
    std::atomic<int> winners = 0;
    std::atomic<int> losers = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < contenders; ++i) {
        threads.emplace_back([&fixture, &winners, &losers, i] {
            const auto catalog_opened = fixture.open();
            Catalog& catalog = *catalog_opened;
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
    CHECK(fixture.open()->last_serial().value() == 1);
}

TEST_CASE("tokens keep their scope; a revoked one stays in the list") {
    const Fixture fixture;
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
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
    REQUIRE(catalog.drop_tokens({row.id}));
    CHECK(catalog.tokens()->empty());
}
