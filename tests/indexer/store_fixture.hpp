// A catalog and a blob store in a temporary folder, with files that are not real wheels: the indexer never
// opens them.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/store.hpp"

namespace wheelyard::indexer {

inline constexpr base::UnixMicros noon = 1'795'176'000'000'000;  // 2026-11-20T12:00:00Z

// Uses a folder in memory if the machine has one: these tests fsync thousands of times and do not test the
// disk.
inline base::TempDir make_test_folder() {
    auto folder = base::TempDir::make("wheelyard-indexer-test", "/dev/shm");
    return folder ? std::move(*folder) : *base::TempDir::make("wheelyard-indexer-test");
}

struct StoreFixture {
    base::TempDir folder = make_test_folder();
    std::filesystem::path store = folder.path() / "store";
    std::filesystem::path tree = folder.path() / "tree";
    blobs::FolderBlobs blobs = *blobs::FolderBlobs::open(store);
    std::unique_ptr<catalog::Catalog> opened = *database::Store(store).writer();
    catalog::Catalog& catalog = *opened;
    base::ManualClock clock{noon};

    // A row whose blobs are stored; it may be changed before add().
    catalog::FileRow make_row(const std::string& index, const std::string& project,
                              const std::string& version, const std::string& filename) {
        const std::string bytes = "wheel " + index + " " + filename;
        const std::string metadata =
            "Metadata-Version: 2.1\nName: " + project + "\nVersion: " + version + "\n";
        catalog::FileRow row;
        row.index = index;
        row.project = project;
        row.filename = filename;
        row.version = version;
        row.sha256 = *blobs.store_bytes(bytes);
        row.size_bytes = bytes.size();
        row.metadata_sha256 = *blobs.store_bytes(metadata);
        row.metadata_size_bytes = metadata.size();
        row.metadata_name = project;
        row.upload_time = clock.now();
        row.uploaded_by = "test";
        row.facts_json = "{}";
        return row;
    }
    // The same row as an agent's upload makes it.
    catalog::FileRow with_provenance(catalog::FileRow row) const {
        const std::string document = R"({"format":"wheelyard.provenance/1","site":")" + row.filename + "\"}";
        row.provenance_sha256 = *blobs.store_bytes(document);
        row.provenance_size_bytes = document.size();
        return row;
    }
    // The same row as an upload with attestations makes it.
    catalog::FileRow with_attestations(catalog::FileRow row) const {
        const std::string document = R"({"version":1,"attestation_bundles":[]})" + row.filename;
        row.attestations_sha256 = *blobs.store_bytes(document);
        row.attestations_size_bytes = document.size();
        return row;
    }
    void add(const catalog::FileRow& row) {
        REQUIRE(catalog.add_file(row)->outcome == catalog::AddOutcome::added);
    }
    void add(const std::string& index, const std::string& project, const std::string& version,
             const std::string& filename) {
        add(make_row(index, project, version, filename));
    }
};

}  // namespace wheelyard::indexer
