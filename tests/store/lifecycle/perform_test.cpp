// Actions, done: each verb changes what it names. What refusals say is in tests/golden/operations.
#include "lib/store/lifecycle/perform.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/wire/problem.hpp"
#include "tests/store/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::lifecycle;

namespace {

Action about(Verb verb, const catalog::FileRow& row) {
    return {.verb = verb, .index = row.index, .filename = row.filename, .reason = "because"};
}

}  // namespace

TEST_CASE("each verb of a file changes it once; repeated, it is so already") {
    PlaceFixture fixture;
    const auto row = fixture.add("main", "six", "1.0");
    for (const Verb verb :
         {Verb::yank, Verb::unyank, Verb::quarantine, Verb::release, Verb::pin, Verb::unpin, Verb::remove}) {
        CAPTURE(row_of(verb).word);
        const auto done = fixture.act(about(verb, row));
        REQUIRE(done.has_value());
        CHECK(done->changed);
        CHECK(done->serial == fixture.catalog.last_serial().value());
        REQUIRE(done->files.size() == 1);
        CHECK(done->files[0].filename == row.filename);
        const auto event = fixture.catalog.events_after(done->serial - 1, 1).value().at(0);
        CHECK(event.actor == "anna");
        CHECK(event.reason == "because");
        CHECK(event.time == noon);
        const auto again = fixture.act(about(verb, row));
        REQUIRE(again.has_value());
        CHECK_FALSE(again->changed);
        CHECK(again->serial == done->serial);
    }
}

TEST_CASE("a promotion names the file where it came to, and copies no byte") {
    PlaceFixture fixture;
    const auto row = fixture.add("staging", "six", "1.0");
    Action action = about(Verb::promote, row);
    action.to_index = "main";
    const auto done = fixture.act(action).value();
    CHECK(done.changed);
    CHECK(done.files.at(0).index == "main");
    CHECK(fixture.catalog.file("main", row.filename).value()->sha256 == row.sha256);
    CHECK(fixture.catalog.file("staging", row.filename).value().has_value());
}

TEST_CASE("what the index does not admit is neither promoted to it nor released there") {
    PlaceFixture fixture;
    std::vector<std::string> asked;
    fixture.place.admits = [&](const std::string& index, const catalog::FileRow& row,
                               const auto&) -> base::Status {
        asked.push_back(index + " " + row.filename);
        return wire::fail("upload.not_attested", "The index takes it from other origins only");
    };
    const auto row = fixture.add("staging", "six", "1.0");
    Action action = about(Verb::promote, row);
    action.to_index = "main";
    CHECK(fixture.act(action).error().code == "upload.not_attested");
    CHECK_FALSE(fixture.catalog.file("main", row.filename).value().has_value());
    CHECK(fixture.act(about(Verb::yank, row)));
    CHECK(fixture.act(about(Verb::quarantine, row)));
    CHECK(fixture.act(about(Verb::release, row)).error().code == "upload.not_attested");
    CHECK(fixture.catalog.file("staging", row.filename).value()->state == catalog::FileState::quarantined);
    CHECK(fixture.act(action).error().code == "upload.not_attested");  // it may be released at any moment
    CHECK(asked == std::vector<std::string>{"main " + row.filename, "staging " + row.filename,
                                            "main " + row.filename});
}

TEST_CASE("a promotion is repeated where the index has the file and would not take it today") {
    PlaceFixture fixture;
    Action action = about(Verb::promote, fixture.add("staging", "six", "1.0"));
    action.to_index = "main";
    REQUIRE(fixture.act(action));
    fixture.place.admits = [](const std::string&, const catalog::FileRow&, const auto&) -> base::Status {
        return wire::fail("upload.not_attested", "The index takes it from other origins only");
    };
    const auto again = fixture.act(action);
    REQUIRE(again);
    CHECK_FALSE(again->changed);
}

TEST_CASE("an upstream's file comes to an index that owns its name only with an explicit word") {
    PlaceFixture fixture;
    const catalog::Cause cause{.actor = "configuration", .reason = {}, .time = noon};
    REQUIRE(fixture.catalog.set_index_rules({{.index = "main", .owns = {"six"}}, {.index = "other"}}, cause));
    const auto row = fixture.add("base.public", "six", "1.0", "py3-none-any", "upstream:public");
    const auto ours = fixture.add("staging", "six", "2.0");
    Action action = about(Verb::promote, ours);
    action.to_index = "main";
    CHECK(fixture.act(action).value().changed);  // our own build
    action = about(Verb::promote, row);
    action.to_index = "main";
    CHECK(fixture.act(action).error().code == "lifecycle.owned_name");
    action.to_index = "other";
    CHECK(fixture.act(action).value().changed);
    action.index = "other";  // through an index that does not own the name
    action.to_index = "main";
    CHECK(fixture.act(action).error().code == "lifecycle.owned_name");
    CHECK_FALSE(fixture.catalog.file("main", row.filename).value().has_value());
    action = about(Verb::promote, row);
    action.to_index = "main";
    action.from_upstream = true;
    CHECK(fixture.act(action).value().changed);
}

TEST_CASE("a file whose bytes are damaged or gone is not promoted, until the same bytes are stored again") {
    PlaceFixture fixture;
    const auto row = fixture.add("staging", "six", "1.0");
    const Action promote{
        .verb = Verb::promote, .index = "staging", .filename = row.filename, .to_index = "main"};
    for (const std::string& sha256 : {row.sha256, row.metadata_sha256}) {
        const std::filesystem::path blob = fixture.blobs.path_of(sha256);
        const std::string bytes = base::read_file(blob, base::mib).value();
        std::string flipped = bytes;
        flipped.back() = static_cast<char>(flipped.back() ^ 1);
        REQUIRE(base::replace_file(blob, flipped, 0444).has_value());
        CHECK(fixture.act(promote).error().code == "lifecycle.blob_damaged");
        REQUIRE(fixture.blobs.store_bytes(bytes).has_value());
    }
    CHECK(fixture.act(promote).value().changed);
}

TEST_CASE("a file whose bytes are damaged or gone stays in quarantine") {
    PlaceFixture fixture;
    const auto row = fixture.add("main", "six", "1.0");
    REQUIRE(fixture.act(about(Verb::quarantine, row)));
    const auto path = fixture.blobs.path_of(row.sha256);
    const auto right = base::read_file(path, 1000).value();
    REQUIRE(base::replace_file(path, "other bytes"));
    CHECK(fixture.act(about(Verb::release, row)).error().code == "lifecycle.blob_damaged");
    REQUIRE(base::remove_file(path));
    CHECK(fixture.act(about(Verb::release, row)).error().code == "lifecycle.blob_damaged");
    CHECK(fixture.catalog.file("main", row.filename).value()->state == catalog::FileState::quarantined);
    REQUIRE(base::replace_file(path, right));
    CHECK(fixture.act(about(Verb::release, row))->changed);
}

TEST_CASE("retention deletes what the rule gives up, says so in the log, and a dry run only says") {
    PlaceFixture fixture;
    for (const char* version : {"2.4.0", "2.4.1", "2.5.0"})
        fixture.add("nightly", "torch", version);
    fixture.add("nightly", "numpy", "2.0.0");
    fixture.add("nightly", "numpy", "2.0.1");
    fixture.add("main", "torch", "2.4.0");
    Action action{.verb = Verb::retain, .index = "nightly", .keep = 1, .dry_run = true};
    const auto serial = fixture.catalog.last_serial().value();
    const auto dry = fixture.act(action).value();
    CHECK(dry.dry_run);
    CHECK_FALSE(dry.changed);
    CHECK(dry.files.size() == 2);
    CHECK(fixture.catalog.last_serial().value() == serial);
    action.dry_run = false;
    action.project = "torch";
    const auto one = fixture.act(action).value();
    REQUIRE(one.files.size() == 1);
    CHECK(one.files[0].filename == "torch-2.4.0-py3-none-any.whl");
    CHECK(one.changed);
    CHECK(fixture.catalog.events_after(serial, 1).value().at(0).reason == "retention: keeps 1 of series 2.4");
    action.project.clear();
    action.reason = "nightly cron";
    CHECK(fixture.act(action)->files.size() == 1);
    CHECK(fixture.catalog.events_after(serial + 1, 1).value().at(0).reason ==
          "retention: keeps 1 of series 2.0; nightly cron");
    CHECK(fixture.act(action)->files.empty());
    CHECK(fixture.catalog.files("main", "torch").value().size() == 1);
    CHECK(fixture.catalog.files("nightly", "torch").value().size() == 2);
}

TEST_CASE("retention that is stopped between two projects goes on when it is repeated") {
    PlaceFixture fixture;
    for (const char* project : {"numpy", "six", "torch"})
        for (const char* version : {"2.4.0", "2.4.1"})
            fixture.add("nightly", project, version);
    std::vector<std::string> steps;
    fixture.place.step = [&](std::uint64_t done, std::uint64_t of) -> base::Status {
        steps.push_back(std::to_string(done) + "/" + std::to_string(of));
        return done == 2 ? base::Status(base::fail("lifecycle.stopped", "stopped")) : base::Status();
    };
    const Action action{.verb = Verb::retain, .index = "nightly", .keep = 1};
    CHECK(fixture.act(action).error().code == "lifecycle.stopped");
    CHECK(steps == std::vector<std::string>{"0/3", "1/3", "2/3"});
    fixture.place.step = {};
    CHECK(fixture.act(action)->files.size() == 1);
}
