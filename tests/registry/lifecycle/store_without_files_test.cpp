// Lifecycle, scrub, gc and backup use a blob store by its operations: one that has no files will do.
#include <doctest/doctest.h>

#include <algorithm>

#include "lib/base/files/temp_dir.hpp"
#include "registry/lifecycle/backup.hpp"
#include "registry/lifecycle/verify.hpp"
#include "tests/registry/blobs/memory_blobs.hpp"
#include "tests/registry/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::lifecycle;

namespace {

// The rows of PlaceFixture, with the bytes elsewhere.
struct WithoutFiles : PlaceFixture {
    base::TempDir staging = base::TempDir::make("staging").value();
    blobs::MemoryBlobs memory = blobs::MemoryBlobs::open(staging.path()).value();
    Place elsewhere{.on_catalog = place.on_catalog, .blobs = memory, .clock = clock};

    catalog::FileRow add_elsewhere(const std::string& version) {
        const auto row = add("main", "six", version);
        for (const std::string& sha256 : {row.sha256, row.metadata_sha256})
            REQUIRE(memory.store_bytes(blobs.read_bytes(sha256, base::mib).value()).value() == sha256);
        return row;
    }
    base::Result<VerifyReport> scrub() {
        return verify(elsewhere, clock, {.state_file = dir.path() / "verify.json"},
                      {.hide = [](const std::vector<catalog::FileName>&) { return base::Status(); }});
    }
};

}  // namespace

TEST_CASE(
    "without files: a scrub reads every blob, isolates a damaged one and reports it missing afterwards") {
    WithoutFiles fixture;
    const auto good = fixture.add_elsewhere("1.0");
    const auto bad = fixture.add_elsewhere("1.1");
    CHECK(fixture.scrub().value().faults.empty());
    CHECK(fixture.scrub().value().blobs == 4);
    fixture.memory.damage(bad.sha256, "wheel six-1.1-py3-none-any.whX");
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "damaged");
    CHECK(report.faults[0].subject == bad.sha256);
    CHECK_FALSE(fixture.memory.contains(bad.sha256));
    CHECK(fixture.memory.is_intact(good.sha256));
    CHECK(fixture.scrub().value().faults.at(0).code == "missing");
}

TEST_CASE("without files: a file is promoted, deleted, and its blobs are collected after the grace") {
    WithoutFiles fixture;
    const auto row = fixture.add_elsewhere("1.0");
    const auto act = [&](const Action& action) { return perform(fixture.elsewhere, action, "anna"); };
    REQUIRE(act({.verb = Verb::promote, .index = "main", .filename = row.filename, .to_index = "other"}));
    for (const char* index : {"main", "other"})
        REQUIRE(act({.verb = Verb::remove, .index = index, .filename = row.filename, .reason = "x"}));
    // The bytes were stored at the real time, the rows changed at the manual clock's.
    const base::UnixMicros stored = fixture.memory.find(row.sha256).value()->stored;
    fixture.clock.set(std::max(stored, fixture.clock.now()) + 8 * day_ms * 1000);
    const auto done = act({.verb = Verb::collect, .grace_ms = 7 * day_ms}).value();
    CHECK(done.blobs == 2);
    CHECK_FALSE(fixture.memory.contains(row.sha256));
    CHECK_FALSE(fixture.memory.contains(row.metadata_sha256));
}

TEST_CASE("without files: a backup has copies, also where links were asked for, and is restored from") {
    WithoutFiles fixture;
    const auto row = fixture.add_elsewhere("1.0");
    const auto to = fixture.staging.path() / "backup";
    const auto restored = fixture.staging.path() / "restored";
    const auto saved =
        back_up({fixture.dir.path()}, fixture.memory, to, BlobTransfer::link, fixture.clock).value();
    CHECK(saved.copied_blobs == 2);
    CHECK(saved.damaged.empty());
    CHECK(restore(to, {restored})->damaged.empty());
    CHECK(blobs::read_blob_store(restored)->is_intact(row.sha256));
    fixture.memory.damage(row.sha256, "wheel six-1.0-py3-none-any.whX");
    CHECK(back_up({fixture.dir.path()}, fixture.memory, restored / "other", BlobTransfer::link, fixture.clock)
              .value()
              .damaged == std::vector<std::string>{row.sha256});
}
