// Backups: whole or not there, also of a store that is damaged; what was saved comes back.
#include "lib/store/lifecycle/backup.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "tests/store/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::lifecycle;
namespace fs = std::filesystem;

namespace {

struct Saved : PlaceFixture {
    base::TempDir other = base::TempDir::make("backup").value();
    fs::path to = other.path() / "backup";
    fs::path restored = other.path() / "restored";

    base::Result<BackupReport> save(BlobTransfer transfer = BlobTransfer::copy) {
        return back_up({dir.path()}, **blobs::read_blob_store(dir.path()), to, transfer, clock);
    }
    [[nodiscard]] fs::path saved_blob(const std::string& sha256) const {
        return to / "blobs" / "sha256" / sha256.substr(0, 2) / sha256;
    }
};

std::uint64_t inode_of(const fs::path& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_ino;
}

}  // namespace

TEST_CASE("what is saved comes back: every row, every blob, serials that go on") {
    Saved fixture;
    const auto row = fixture.add("main", "six", "1.0");
    const auto hidden = fixture.add("main", "torch", "2.4.0");
    REQUIRE(
        fixture.act({.verb = Verb::quarantine, .index = "main", .filename = hidden.filename, .reason = "x"}));
    fixture.store("an orphan");
    const auto saved = fixture.save().value();
    CHECK(saved.serial == 3);
    CHECK(saved.blobs == 4);
    CHECK(saved.copied_blobs == 4);
    CHECK(saved.damaged.empty());
    CHECK(fs::exists(fixture.to / "backup.json"));

    const auto report = restore(fixture.to, {fixture.restored}).value();
    CHECK(report.copied_blobs == 4);
    CHECK(report.damaged.empty());
    const auto opened = database::Store(fixture.restored).writer().value();
    catalog::Catalog& catalog = *opened;
    CHECK(catalog::render_file_row(*catalog.file("main", row.filename).value()) ==
          catalog::render_file_row(row));
    CHECK(catalog.file("main", hidden.filename).value()->state == catalog::FileState::quarantined);
    CHECK(catalog.faults().value().empty());
    const auto blobs = blobs::FolderBlobs::open(fixture.restored).value();
    CHECK(base::read_file(blobs.path_of(row.sha256), 100).value() == "wheel " + row.filename);
    CHECK((fs::status(blobs.path_of(row.sha256)).permissions() & fs::perms::mask) ==
          static_cast<fs::perms>(0444));
    CHECK(catalog.set_pinned({"main", row.filename}, true, {"anna", "", noon})->serial == 4);
    CHECK(restore(fixture.to, {fixture.restored}).error().code == "backup.store_there");
}

TEST_CASE("a second backup into the same folder copies what is new, and then has all of it") {
    Saved fixture;
    fixture.add("main", "six", "1.0");
    REQUIRE(fixture.save());
    const auto row = fixture.add("main", "six", "1.1");
    const auto again = fixture.save().value();
    CHECK(again.serial == 2);
    CHECK(again.blobs == 4);
    CHECK(again.copied_blobs == 2);
    CHECK(fs::exists(fixture.saved_blob(row.sha256)));
    CHECK_FALSE(fs::exists(fixture.to / "catalog.sqlite.new"));
    CHECK(restore(fixture.to, {fixture.restored})->serial == 2);
}

TEST_CASE("hard links where they are asked for, bytes of one's own otherwise") {
    Saved fixture;
    const auto row = fixture.add("main", "six", "1.0");
    REQUIRE(fixture.save(BlobTransfer::link));
    CHECK(inode_of(fixture.saved_blob(row.sha256)) == inode_of(fixture.blobs.path_of(row.sha256)));
    Saved other;
    const auto own = other.add("main", "six", "1.0");
    REQUIRE(other.save());
    CHECK(inode_of(other.saved_blob(own.sha256)) != inode_of(other.blobs.path_of(own.sha256)));
}

TEST_CASE("a damaged or missing blob is named, and everything else is saved and restored") {
    Saved fixture;
    fixture.add("main", "six", "1.0");
    REQUIRE(fixture.save());
    const auto bad = fixture.add("main", "six", "1.1");
    const auto gone = fixture.add("main", "six", "1.2");
    REQUIRE(base::replace_file(fixture.blobs.path_of(bad.sha256), "wheel six-1.1-py3-none-any.whX"));
    REQUIRE(base::remove_file(fixture.blobs.path_of(gone.sha256)));
    const auto good = fixture.add("main", "six", "1.3");
    const auto report = fixture.save().value();
    CHECK(report.damaged.size() == 2);
    const std::string manifest = base::read_file(fixture.to / "backup.json", 10'000).value();
    for (const std::string& sha256 : {bad.sha256, gone.sha256}) {
        CHECK_FALSE(fs::exists(fixture.saved_blob(sha256)));
        CHECK(manifest.find(sha256) != std::string::npos);
    }
    const auto restored = restore(fixture.to, {fixture.restored}).value();
    CHECK(restored.serial == 4);
    CHECK(restored.damaged == report.damaged);
    CHECK(blobs::FolderBlobs::open(fixture.restored)->is_intact(good.sha256));
}

TEST_CASE("files that a mirror evicts meanwhile are not damage: the catalog is copied again") {
    Saved fixture;
    const auto kept = fixture.add("main", "six", "1.0");
    const auto evicted = fixture.add("main.up", "torch", "2.4.0");
    bool is_first = true;
    const auto report = back_up({fixture.dir.path()}, fixture.blobs, fixture.to, BlobTransfer::copy,
                                fixture.clock, [&](const BackupReport&) {
                                    if (!std::exchange(is_first, false)) return;
                                    const catalog::Cause cause{"up", "limit", noon};
                                    REQUIRE(fixture.catalog.evict({"main.up", evicted.filename}, cause));
                                    for (const auto& sha256 : {evicted.sha256, evicted.metadata_sha256})
                                        REQUIRE(base::remove_file(fixture.blobs.path_of(sha256)));
                                });
    CHECK(report.value().damaged.empty());
    CHECK(report->blobs == 2);
    CHECK(report->copied_blobs == 2);
    CHECK(report->serial == 3);
    CHECK(restore(fixture.to, {fixture.restored})->damaged.empty());
    CHECK(blobs::FolderBlobs::open(fixture.restored)->contains(kept.sha256));
}

TEST_CASE("a restore leaves out what is damaged in the backup, and says what") {
    Saved fixture;
    const auto bad = fixture.add("main", "six", "1.0");
    const auto good = fixture.add("main", "six", "1.1");
    REQUIRE(fixture.save());
    REQUIRE(base::replace_file(fixture.saved_blob(bad.sha256), "flipped"));
    const auto report = restore(fixture.to, {fixture.restored}).value();
    CHECK(report.damaged == std::vector<std::string>{bad.sha256});
    const auto blobs = blobs::FolderBlobs::open(fixture.restored).value();
    CHECK(blobs.contains(good.sha256));
    CHECK_FALSE(blobs.contains(bad.sha256));
}

TEST_CASE("a restore that was cut short is no registry, and the next one finishes it") {
    Saved fixture;
    const auto row = fixture.add("main", "six", "1.0");
    REQUIRE(fixture.save());
    fs::create_directories(fixture.restored);
    std::ofstream(fixture.restored / "catalog.sqlite.new") << "half";
    std::ofstream(fixture.restored / "catalog.sqlite.new-wal") << "half";
    CHECK(restore(fixture.to, {fixture.restored})->copied_blobs == 2);
    CHECK_FALSE(fs::exists(fixture.restored / "catalog.sqlite.new"));
    CHECK_FALSE(fs::exists(fixture.restored / "catalog.sqlite.new-wal"));
    CHECK(database::Store(fixture.restored).reader().value()->file("main", row.filename).value().has_value());
}

TEST_CASE("what is left of another registry is not restored over") {
    Saved fixture;
    fixture.add("main", "six", "1.0");
    REQUIRE(fixture.save());
    for (const char* left : {"catalog.sqlite", "catalog.sqlite-wal", "public", "private"}) {
        fs::create_directories(fixture.restored / left);
        const auto refused = restore(fixture.to, {fixture.restored});
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code == "backup.store_there");
        CHECK(refused.error().value.ends_with(left));
        fs::remove(fixture.restored / left);
    }
    CHECK(restore(fixture.to, {fixture.restored}).has_value());
}

TEST_CASE("a backup into the data folder itself is refused, and the catalog stays") {
    Saved fixture;
    const auto row = fixture.add("main", "six", "1.0");
    const auto refused = back_up({fixture.dir.path()}, fixture.blobs, fixture.dir.path() / ".",
                                 BlobTransfer::copy, fixture.clock);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "backup.same_folder");
    CHECK(fixture.catalog.file("main", row.filename).value().has_value());
}

TEST_CASE("a backup's catalog is migrated in its restored copy, and stays as it is") {
    Saved fixture;
    fs::create_directories(fixture.to);
    const auto saved =
        sqlite::Database::open(fixture.to / "catalog.sqlite", sqlite::Database::Mode::read_write).value();
    REQUIRE(saved.run_script("PRAGMA user_version = 0"));  // the only older version: before the first step
    CHECK(restore(fixture.to, {fixture.restored}).value().serial == 0);
    CHECK(database::Store(fixture.restored).reader());
    CHECK(database::Store(fixture.to).reader().error().code == "catalog.too_old");
}
