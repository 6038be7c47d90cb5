// Copies the blobs that the catalog refers to from one store to another, also while a server runs over the
// first: each is hashed on the way, and the second store is asked for its size. What is there already is not
// sent again, so a run that was stopped goes on, and one that follows a whole run takes what came since.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::lifecycle {

struct MigrationReport {
    std::uint64_t blobs = 0;         // that the catalog refers to
    std::uint64_t bytes = 0;         // of them
    std::uint64_t copied_blobs = 0;  // of them, copied by this run
    std::uint64_t copied_bytes = 0;
    std::vector<std::string> damaged;  // hashes of blobs that are missing or wrong, and were not copied
};

using MigrationProgress = std::function<void(const MigrationReport& so_far)>;

[[nodiscard]] base::Result<MigrationReport> migrate(const catalog::Catalog& catalog,
                                                    const blobs::BlobStore& from, const blobs::BlobStore& to,
                                                    const MigrationProgress& progress = {});

}  // namespace wheelyard::lifecycle
