// A catalog and a blob store in a temporary folder, with files that only claim to be wheels, and a clock
// turned by hand.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "lib/store/lifecycle/store_identity.hpp"
#include "lib/store/store.hpp"

namespace wheelyard::lifecycle {

inline constexpr base::UnixMicros noon = 1'795'176'000'000'000;  // 2026-11-20T12:00:00Z
inline constexpr std::int64_t day_ms = 24 * 3'600'000;

struct PlaceFixture {
    base::TempDir dir = base::TempDir::make("lifecycle").value();
    blobs::FolderBlobs blobs = blobs::FolderBlobs::open(dir.path()).value();
    std::unique_ptr<catalog::Catalog> opened = database::Store(dir.path()).writer().value();
    catalog::Catalog& catalog = *opened;
    base::ManualClock clock{noon};
    LifecycleParts place{.on_catalog = [this](const CatalogWork& work) { return work(catalog); },
                         .blobs = blobs,
                         .clock = clock,
                         .admits = [](const auto&...) { return base::Status(); }};

    PlaceFixture() { REQUIRE(claim_store(place)); }  // as the first start does

    // Stored as if at the manual clock's time.
    std::string store(const std::string& bytes) const {
        const std::string hash = blobs.store_bytes(bytes).value();
        const struct timespec now { clock.now() / 1'000'000, 0 };
        const struct timespec times[2] = {now, now};
        REQUIRE(::utimensat(AT_FDCWD, blobs.path_of(hash).c_str(), times, 0) == 0);
        return hash;
    }
    catalog::FileRow add(const std::string& index, const std::string& project, const std::string& version,
                         const std::string& tag = "py3-none-any", const std::string& uploaded_by = "agent") {
        catalog::FileRow row;
        row.index = index;
        row.project = project;
        row.version = version;
        row.filename = project + "-" + version + "-" + tag + ".whl";
        const std::string bytes = "wheel " + row.filename;
        row.sha256 = store(bytes);
        row.size_bytes = bytes.size();
        const std::string metadata = "Name: " + project + "\nVersion: " + version + "\n";
        row.metadata_sha256 = store(metadata);
        row.metadata_size_bytes = metadata.size();
        row.upload_time = clock.now();
        row.uploaded_by = uploaded_by;
        row.facts_json = "{}";
        REQUIRE(catalog.add_file(row)->outcome == catalog::AddOutcome::added);
        return row;
    }
    base::Result<Done> act(const Action& action) { return perform(place, action, "anna"); }
};

}  // namespace wheelyard::lifecycle
