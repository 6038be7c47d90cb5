// Compares a tree with its catalog and repairs it: removes files that no page may list or whose content is
// wrong, then publishes everything again.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "indexer/check/check.hpp"
#include "indexer/publish/publish.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Findings: behind (the catalog is at a later serial; pages are then not compared), page_missing, page_stale
// (differs from the catalog), unknown_project (the index exists in the catalog, the project does not).
[[nodiscard]] base::Result<std::vector<Finding>> compare_with_catalog(const catalog::Catalog& catalog,
                                                                      const std::filesystem::path& tree);

// The findings of check_tree() and compare_with_catalog().
[[nodiscard]] base::Result<CheckReport> check_with_catalog(const catalog::Catalog& catalog,
                                                           const std::filesystem::path& tree);

struct RepairReport {
    CheckReport before;  // includes the comparison with the catalog
    PublishReport published;
    CheckReport after;
    bool lost_signatures = false;  // the tree was signed, and is no more
};
// Takes the tree's lock, as publish() does. Findings that remain in `after` cannot be repaired from the
// store, such as a damaged blob. Without a signer, what was signed is removed.
[[nodiscard]] base::Result<RepairReport> repair_tree(const catalog::Catalog& catalog,
                                                     const blobs::BlobStore& blobs,
                                                     const std::filesystem::path& tree,
                                                     const base::Clock& clock,
                                                     const std::optional<IndexSigner>& signer = {});

}  // namespace wheelyard::indexer
