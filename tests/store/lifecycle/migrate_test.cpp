// From one store of blobs to another.
#include "lib/store/lifecycle/migrate.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/store/blobs/memory_blobs.hpp"
#include "tests/store/lifecycle/place_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::lifecycle;

TEST_CASE("a migration copies what the catalog refers to, once, and goes on where it was") {
    PlaceFixture fixture;
    const auto staging = base::TempDir::make("target").value();
    const auto target = blobs::MemoryBlobs::open(staging.path()).value();
    const auto row = fixture.add("main", "six", "1.0");
    const std::string orphan = fixture.store("orphan");
    const auto first = migrate(fixture.catalog, fixture.blobs, target).value();
    CHECK(first.blobs == 2);
    CHECK(first.copied_blobs == 2);
    CHECK(first.copied_bytes == row.size_bytes + row.metadata_size_bytes);
    CHECK(target.is_intact(row.sha256));
    CHECK_FALSE(target.contains(orphan));
    CHECK(migrate(fixture.catalog, fixture.blobs, target)->copied_blobs == 0);
    const auto more = fixture.add("main", "six", "1.1");
    target.damage(row.sha256, "half");  // as a run that was killed may leave it where a store shows such
    const auto second = migrate(fixture.catalog, fixture.blobs, target).value();
    CHECK(second.blobs == 4);
    CHECK(second.copied_blobs == 3);
    CHECK(target.is_intact(row.sha256));
    CHECK(target.is_intact(more.sha256));
    // And back, into an empty folder.
    const auto other = base::TempDir::make("back").value();
    const auto folder = blobs::FolderBlobs::open(other.path()).value();
    CHECK(migrate(fixture.catalog, target, folder)->copied_blobs == 4);
    CHECK(folder.is_intact(more.metadata_sha256));
}

TEST_CASE("a migration takes what is uploaded while it runs") {
    PlaceFixture fixture;
    const auto staging = base::TempDir::make("target").value();
    const auto target = blobs::MemoryBlobs::open(staging.path()).value();
    fixture.add("main", "six", "1.0");
    std::optional<catalog::FileRow> late;
    const auto report = migrate(fixture.catalog, fixture.blobs, target, [&](const MigrationReport& so_far) {
        if (so_far.blobs == 1 && !late) late = fixture.add("main", "six", "1.1");
    });
    CHECK(report->blobs == 4);
    CHECK(target.is_intact(late->sha256));
    CHECK(target.is_intact(late->metadata_sha256));
}

TEST_CASE("damaged and missing blobs are reported and not copied") {
    PlaceFixture fixture;
    const auto staging = base::TempDir::make("target").value();
    const auto target = blobs::MemoryBlobs::open(staging.path()).value();
    const auto damaged = fixture.add("main", "six", "1.0");
    const auto missing = fixture.add("main", "six", "1.1");
    const auto shorter = fixture.add("main", "six", "1.2");
    for (const auto& [row, bytes] :
         {std::pair(damaged, "wheel six-1.0-py3-none-any.whX"), std::pair(shorter, "w")}) {
        std::filesystem::permissions(fixture.blobs.path_of(row.sha256), std::filesystem::perms::owner_all);
        std::ofstream(fixture.blobs.path_of(row.sha256)) << bytes;
    }
    std::filesystem::remove(fixture.blobs.path_of(missing.sha256));
    const auto report = migrate(fixture.catalog, fixture.blobs, target).value();
    CHECK(report.damaged.size() == 3);
    CHECK(report.copied_blobs == 3);
    for (const auto& row : {damaged, missing, shorter})
        CHECK_FALSE(target.contains(row.sha256));
}
