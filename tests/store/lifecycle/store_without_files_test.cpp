// Lifecycle, scrub, gc and backup use a blob store by its operations: one that has no files will do.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <limits>
#include <set>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/lifecycle/backup.hpp"
#include "lib/store/lifecycle/verify.hpp"
#include "tests/store/blobs/memory_blobs.hpp"
#include "tests/store/lifecycle/place_fixture.hpp"

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
                      {.show = [](const std::vector<catalog::FileName>&) { return base::Status(); }});
    }
};

}  // namespace

TEST_CASE("without files: a scrub reads every blob, and finds one of a hundred that is damaged, or gone") {
    WithoutFiles fixture;
    for (int minor = 1; minor < 50; ++minor)
        fixture.add_elsewhere("1." + std::to_string(minor));
    const auto bad = fixture.add_elsewhere("1.0");
    CHECK(fixture.scrub().value().faults.empty());
    CHECK(fixture.scrub().value().blobs == 100);
    fixture.memory.damage(bad.sha256, "wheel six-1.0-py3-none-any.whX");
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "damaged");
    CHECK(report.faults[0].subject == bad.sha256);
    CHECK(fixture.memory.read_bytes(bad.sha256, base::mib).value() == "wheel six-1.0-py3-none-any.whX");
    CHECK(fixture.catalog.file("main", bad.filename).value()->state == catalog::FileState::quarantined);
    REQUIRE(fixture.memory.remove_if_stored_before(bad.sha256, std::numeric_limits<base::UnixMicros>::max())
                .value());
    CHECK(fixture.scrub().value().faults.at(0).code == "missing");
    REQUIRE(fixture.memory.store_bytes("wheel " + bad.filename).value() == bad.sha256);
    CHECK(fixture.scrub().value().faults.empty());
    CHECK(fixture.catalog.file("main", bad.filename).value()->state == catalog::FileState::active);
}

namespace {

// What is read of a blob has one byte flipped, where `flips` says so.
struct FlippingBlobs : blobs::MemoryBlobs {
    explicit FlippingBlobs(blobs::MemoryBlobs store) : blobs::MemoryBlobs(std::move(store)) {}
    base::Result<std::unique_ptr<base::Reader>> open(std::string_view sha256,
                                                     blobs::ReadFrom from) const override {
        WHEELYARD_ASSIGN(auto reader, blobs::MemoryBlobs::open(sha256, from));
        std::string bytes(reader->size(), '\0');
        WHEELYARD_TRY(reader->read_at(0, bytes.data(), bytes.size()));
        if (flips(std::string(sha256), bytes.size())) bytes.at(0) ^= 1;
        struct Flipped final : base::Reader {
            explicit Flipped(std::string text) : bytes(std::move(text)) {}
            std::uint64_t size() const override { return bytes.size(); }
            base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override {
                return base::MemoryReader(bytes).read_at(offset, into, length);
            }
            std::string bytes;
        };
        return std::make_unique<Flipped>(std::move(bytes));
    }
    std::function<bool(const std::string& sha256, std::size_t size)> flips;
};

struct Filled : WithoutFiles {
    static constexpr int files = 8;
    std::vector<catalog::FileRow> rows;
    std::vector<std::string> hashes;  // of all blobs, sorted as they are read
    Filled() {
        for (int minor = 0; minor < files; ++minor) {
            rows.push_back(add_elsewhere("1." + std::to_string(minor)));
            hashes.insert(hashes.end(), {rows.back().sha256, rows.back().metadata_sha256});
        }
        std::sort(hashes.begin(), hashes.end());
    }
};
struct Flipping : Filled {
    FlippingBlobs blobs{std::move(memory)};
    int shown = 0;
    base::Result<VerifyReport> scrub() {
        const LifecycleParts place{.on_catalog = this->place.on_catalog, .blobs = blobs, .clock = clock};
        return verify(place, clock, {.state_file = dir.path() / "verify.json"},
                      {.show = [this](const std::vector<catalog::FileName>&) {
                          ++shown;
                          return base::Status();
                      }});
    }
    std::size_t quarantined() const {
        return catalog.files_after("main", "", 100, {.state = catalog::FileState::quarantined})->size();
    }
};

}  // namespace

TEST_CASE("a reader that damages what it reads is at fault, and nothing is quarantined") {
    Flipping fixture;
    fixture.blobs.flips = [](const auto&, std::size_t) { return true; };
    CHECK(fixture.scrub().error().code == "verify.reader");
    // From the middle of the store on; then of long blobs alone.
    bool is_bad = false;
    fixture.blobs.flips = [&](const std::string& sha256, std::size_t) {
        return is_bad = is_bad || sha256 == fixture.hashes[8];
    };
    CHECK(fixture.scrub().error().code == "verify.reader");
    const std::size_t long_bytes = fixture.rows[0].size_bytes;
    REQUIRE(fixture.rows[0].metadata_size_bytes < long_bytes);
    fixture.blobs.flips = [&](const auto&, std::size_t size) { return size >= long_bytes; };
    CHECK(fixture.scrub().error().code == "verify.reader");
    CHECK(fixture.quarantined() == 0);
    CHECK(fixture.shown == 0);
    fixture.blobs.flips = [](const auto&, std::size_t) { return false; };
    const auto report = fixture.scrub().value();
    CHECK_FALSE(report.resumed);
    CHECK(report.faults.empty());
    CHECK(report.blobs == fixture.hashes.size());
}

TEST_CASE("a run whose reader turns out to be at fault releases what it quarantined") {
    Flipping fixture;
    // One blob is read wrong, while others are not; after its files are quarantined all are.
    fixture.blobs.flips = [&](const std::string& sha256, std::size_t) {
        return sha256 == fixture.rows[0].sha256 || fixture.shown > 0;
    };
    CHECK(fixture.scrub().error().code == "verify.reader");
    CHECK(fixture.shown == 2);
    CHECK(fixture.quarantined() == 0);
    const auto events = fixture.catalog.events_after(Flipping::files, 10).value();
    REQUIRE(events.size() == 2);
    CHECK(events[1].kind == catalog::EventKind::file_released);
    CHECK(events[1].reason == "verify: the reader is at fault");
}

TEST_CASE("two reads that differ prove nothing about the blob, and are told") {
    Flipping fixture;
    int reads = 0;
    fixture.blobs.flips = [&](const std::string& sha256, std::size_t) {
        return sha256 == fixture.rows[3].sha256 && ++reads == 1;
    };
    const auto report = fixture.scrub().value();
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "unsteady");
    CHECK(fixture.quarantined() == 0);
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
                      {.show = [&](const std::vector<catalog::FileName>&) {
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

namespace {

// Answers over a network: the first reads wait until as many are under way as may be.
struct RemoteBlobs : blobs::MemoryBlobs {
    explicit RemoteBlobs(blobs::MemoryBlobs store) : blobs::MemoryBlobs(std::move(store)) {}
    bool serves_files() const override { return true; }
    base::Result<std::unique_ptr<base::Reader>> open(std::string_view sha256,
                                                     blobs::ReadFrom from) const override {
        const std::size_t now = ++reading;
        for (std::size_t most = max_reading; now > most && !max_reading.compare_exchange_weak(most, now);) {
        }
        if (++opened <= remote_readers) together.arrive_and_wait();
        auto reader = blobs::MemoryBlobs::open(sha256, from);
        --reading;
        return reader;
    }
    mutable std::latch together{remote_readers};
    mutable std::atomic<std::size_t> opened = 0, reading = 0, max_reading = 0;
};

}  // namespace

TEST_CASE("blobs of a store over a network are read several at a time, and judged in their order") {
    WithoutFiles fixture;
    const auto bad = fixture.add_elsewhere("1.0");
    std::set<std::string> all{bad.sha256, bad.metadata_sha256};
    for (int number = 0; number < 998; ++number)
        all.insert(fixture.memory.store_bytes("blob " + std::to_string(number)).value());
    fixture.memory.damage(bad.sha256, "other bytes");
    const RemoteBlobs blobs(std::move(fixture.memory));
    const LifecycleParts place{
        .on_catalog = fixture.place.on_catalog, .blobs = blobs, .clock = fixture.clock};
    std::vector<std::uint64_t> shown;
    const auto scrub = [&](VerifySettings settings) {
        settings.state_file = fixture.dir.path() / "verify.json";
        return verify(place, fixture.clock, settings,
                      {.show = [](const std::vector<catalog::FileName>&) { return base::Status(); },
                       .progress = [&](const VerifyProgress& progress) { shown.push_back(progress.blobs); }});
    };
    const auto report = scrub({}).value();
    CHECK(report.blobs == all.size());
    REQUIRE(report.faults.size() == 1);
    CHECK(report.faults[0].code == "damaged");
    CHECK(fixture.catalog.file("main", bad.filename).value()->state == catalog::FileState::quarantined);
    CHECK(blobs.max_reading >= remote_readers);
    CHECK(blobs.max_reading <= remote_readers + 1);  // and the thread that decides
    CHECK(std::is_sorted(shown.begin(), shown.end()));
    blobs.max_reading = 0;
    CHECK(scrub({.state_file = {}, .bytes_per_second = 1 << 30}).value().blobs == all.size());
    CHECK(blobs.max_reading == 1);
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
