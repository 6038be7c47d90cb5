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
    LifecycleParts elsewhere{
        .on_catalog = place.on_catalog, .blobs = memory, .clock = clock, .admits = place.admits};

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

namespace {

// Answers the lists, and nothing else for a while.
struct AwayBlobs : blobs::MemoryBlobs {
    explicit AwayBlobs(blobs::MemoryBlobs store) : blobs::MemoryBlobs(std::move(store)) {}
    base::Result<std::unique_ptr<base::Reader>> open(std::string_view sha256,
                                                     blobs::ReadFrom from) const override {
        if (is_away) return away();
        return blobs::MemoryBlobs::open(sha256, from);
    }
    base::Result<std::optional<blobs::StoredBlob>> find(std::string_view sha256) const override {
        if (is_away && --finds_away >= 0) return away();
        return blobs::MemoryBlobs::find(sha256);
    }
    static tl::unexpected<base::Error> away() {
        return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry,
                             {"s3.unreachable", "The blob store does not answer"});
    }
    bool is_away = false;
    mutable int finds_away = 0;
};

}  // namespace

TEST_CASE("without files: of blobs that the store does not give a scrub says nothing, and goes on later") {
    WithoutFiles fixture;
    const auto row = fixture.add_elsewhere("1.0");
    AwayBlobs blobs(std::move(fixture.memory));
    const LifecycleParts place{
        .on_catalog = fixture.place.on_catalog, .blobs = blobs, .clock = fixture.clock};
    int hidden = 0;
    const auto scrub = [&] {
        return verify(place, fixture.clock, {.state_file = fixture.dir.path() / "verify.json"},
                      {.hide = [&](const std::vector<catalog::FileName>&) {
                          ++hidden;
                          return base::Status();
                      }});
    };
    blobs.is_away = true;
    for (const int finds : {1, 2, 100}) {
        blobs.finds_away = finds;
        const auto report = scrub();
        REQUIRE_FALSE(report);
        CHECK(report.error().code == "s3.unreachable");
    }
    CHECK(hidden == 0);
    CHECK(fixture.catalog.file("main", row.filename).value()->state == catalog::FileState::active);
    blobs.is_away = false;
    CHECK(scrub()->blobs == 2);
    // Whether a blob that is not listed is missing.
    for (const std::string& sha256 : {row.sha256, row.metadata_sha256})
        REQUIRE(
            blobs.remove_if_stored_before(sha256, fixture.clock.now() + 1'000'000'000'000'000).has_value());
    blobs.is_away = true;
    blobs.finds_away = 1;
    CHECK(scrub().error().code == "s3.unreachable");
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
    CHECK(blobs::read_blob_store(restored).value()->is_intact(row.sha256));
    fixture.memory.damage(row.sha256, "wheel six-1.0-py3-none-any.whX");
    CHECK(back_up({fixture.dir.path()}, fixture.memory, restored / "other", BlobTransfer::link, fixture.clock)
              .value()
              .damaged == std::vector<std::string>{row.sha256});
}
