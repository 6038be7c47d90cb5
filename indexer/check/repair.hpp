// A tree held against its catalog, and brought back to what the catalog says: what no page may promise or
// what has other bytes than promised is taken away, then everything is published anew.
#pragma once

#include <filesystem>
#include <vector>

#include "indexer/check/check.hpp"
#include "indexer/publish/publish.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Findings: behind (the catalog has gone on; pages are then not compared), page_missing, page_stale (not what
// the catalog says), unknown_project (of an index of the catalog, but not there).
[[nodiscard]] base::Result<std::vector<Finding>> compare_with_catalog(const catalog::Catalog& catalog,
                                                                      const std::filesystem::path& tree);

// What check_tree() and the catalog say of it.
[[nodiscard]] base::Result<CheckReport> check_with_catalog(const catalog::Catalog& catalog,
                                                           const std::filesystem::path& tree);

struct RepairReport {
    CheckReport before;  // with what the catalog says
    PublishReport published;
    CheckReport after;
};
// One publisher at a time, as publish(). What stands in `after` is beyond it: a blob that is damaged itself.
[[nodiscard]] base::Result<RepairReport> repair_tree(const catalog::Catalog& catalog,
                                                     const blobs::BlobStore& blobs,
                                                     const std::filesystem::path& tree,
                                                     const base::Clock& clock);

}  // namespace wheelyard::indexer
