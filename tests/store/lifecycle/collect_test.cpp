// gc: what nothing refers to goes once its grace is over; everything else stays.
#include "lib/store/lifecycle/perform.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/store/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::lifecycle;

namespace {

const Action gc{.verb = Verb::collect, .grace_ms = day_ms};

Action delete_of(const catalog::FileRow& row) {
    return {.verb = Verb::remove, .index = row.index, .filename = row.filename, .reason = "x"};
}

}  // namespace

TEST_CASE("an orphan goes after its grace, not before") {
    PlaceFixture fixture;
    const std::string orphan = fixture.store("of an upload that never came to its row");
    fixture.clock.sleep_ms(day_ms);
    CHECK(fixture.act(gc)->blobs == 0);  // exactly the grace: it stays
    fixture.clock.sleep_ms(1);
    Action dry = gc;
    dry.dry_run = true;
    const auto would = fixture.act(dry).value();
    CHECK(would.blobs == 1);
    CHECK(would.dry_run);
    CHECK(fixture.blobs.contains(orphan));
    CHECK(fixture.catalog.last_serial().value() == 0);
    const auto done = fixture.act(gc).value();
    CHECK(done.blobs == 1);
    CHECK(done.bytes == 39);
    CHECK(done.changed);
    CHECK_FALSE(fixture.blobs.contains(orphan));
    const auto event = fixture.catalog.events_after(0, 1).value().at(0);
    CHECK(event.kind == catalog::EventKind::blobs_collected);
    CHECK(event.actor == "anna");
    CHECK(event.details_json.find(orphan) != std::string::npos);
    CHECK(fixture.act(gc)->blobs == 0);
}

TEST_CASE("no grace removes bytes that are younger, however long it is") {
    PlaceFixture fixture;
    const std::string orphan = fixture.store("of an upload under way");
    // Times 1000 these are small or negative in 64 bits.
    for (const std::int64_t grace_ms : {INT64_MAX, INT64_MAX / 1000 + 1, INT64_MAX / 2 + 1, max_grace_ms}) {
        CAPTURE(grace_ms);
        static_cast<void>(fixture.act({.verb = Verb::collect, .grace_ms = grace_ms}));
        CHECK(fixture.blobs.contains(orphan));
    }
}

TEST_CASE("a deleted file's bytes stay for the grace from its deletion, however old they are") {
    PlaceFixture fixture;
    const auto row = fixture.add("main", "six", "1.0");
    fixture.clock.sleep_ms(100 * day_ms);
    CHECK(fixture.act(gc)->blobs == 0);
    REQUIRE(fixture.act(delete_of(row)));
    CHECK(fixture.act(gc)->blobs == 0);
    fixture.clock.sleep_ms(day_ms + 1);
    CHECK(fixture.act(gc)->blobs == 2);  // the wheel and its METADATA
    CHECK_FALSE(fixture.blobs.contains(row.sha256));
    CHECK_FALSE(fixture.blobs.contains(row.metadata_sha256));
    CHECK_FALSE(fixture.catalog.blob(row.sha256).value().has_value());
}

TEST_CASE("bytes that any file of any index refers to stay: promoted, quarantined, pinned") {
    PlaceFixture fixture;
    const auto promoted = fixture.add("staging", "six", "1.0");
    REQUIRE(fixture.act(
        {.verb = Verb::promote, .index = "staging", .filename = promoted.filename, .to_index = "main"}));
    REQUIRE(fixture.act(delete_of(promoted)));
    const auto hidden = fixture.add("main", "torch", "2.4.0");
    REQUIRE(
        fixture.act({.verb = Verb::quarantine, .index = "main", .filename = hidden.filename, .reason = "x"}));
    fixture.clock.sleep_ms(100 * day_ms);
    CHECK(fixture.act(gc)->blobs == 0);
    CHECK(fixture.blobs.contains(promoted.sha256));
    CHECK(fixture.blobs.contains(hidden.sha256));
}

TEST_CASE("bytes that are stored again meanwhile stay") {
    PlaceFixture fixture;
    const auto row = fixture.add("main", "six", "1.0");
    REQUIRE(fixture.act(delete_of(row)));
    fixture.clock.sleep_ms(100 * day_ms);
    // The row is forgotten, and before the bytes are removed an upload stores the same ones.
    bool stored = false;
    const LifecycleParts place{.on_catalog =
                                   [&](const CatalogWork& work) {
                                       auto done = work(fixture.catalog);
                                       if (!fixture.catalog.blob(row.sha256).value() && !stored) {
                                           stored = true;
                                           CHECK(fixture.store("wheel " + row.filename) == row.sha256);
                                       }
                                       return done;
                                   },
                               .blobs = fixture.blobs,
                               .clock = fixture.clock};
    const auto done = perform(place, gc, "anna").value();
    CHECK(stored);
    CHECK(done.blobs == 1);  // the METADATA
    CHECK(fixture.blobs.contains(row.sha256));
}

TEST_CASE("gc that is stopped leaves no row without bytes, and the next one does the rest") {
    PlaceFixture fixture;
    for (int i = 0; i < 64; ++i)
        fixture.store("orphan " + std::to_string(i));
    fixture.clock.sleep_ms(day_ms + 1);
    fixture.place.step = [](std::uint64_t done, std::uint64_t of) -> base::Status {
        CHECK(of == 256);
        return done == 128 ? base::Status(base::fail("lifecycle.stopped", "stopped")) : base::Status();
    };
    CHECK(fixture.act(gc).error().code == "lifecycle.stopped");
    fixture.place.step = {};
    CHECK(fixture.act(gc)->blobs == 64);  // too few for a batch: none was removed before
}
