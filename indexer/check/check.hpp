// Verifies a published tree: every link on every page leads to a file with the listed hash and size, HTML and
// JSON agree, and the root lists exactly the existing projects. Reads only the tree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/publish.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct Finding {
    std::string code;       // "missing", "wrong_hash", …: see check.cpp
    std::string page;       // relative to the tree
    std::string detail;     // the link, and what is wrong with it
    std::string file = {};  // what a repair removes before it publishes again; relative to the tree
};

struct CheckReport {
    std::uint64_t pages = 0;
    std::uint64_t files = 0;  // each counted once
    std::uint64_t bytes_hashed = 0;
    std::vector<Finding> findings;
};

// Errors: "tree.invalid", or the tree cannot be read. Safe during a publish run: pages are replaced
// atomically.
[[nodiscard]] base::Result<CheckReport> check_tree(const std::filesystem::path& tree);

// code, page and detail of a finding.
using NoteFinding = std::function<void(std::string, std::string, std::string)>;

// page_names_missing: a search list names a project without a page, or a project's page a file that is not in
// the tree.
void check_web_pages(const std::filesystem::path& tree, const std::string& index, const NoteFinding& note);

// page_missing, page_stale: the page of a project that the catalog shows. What sites report is not compared.
// `farm`: the look that the tree was published with.
[[nodiscard]] base::Status compare_web_page(const std::filesystem::path& tree, const FarmText& farm,
                                            const std::string& index, const CatalogView& found,
                                            const NoteFinding& note);

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
};
// Takes the tree's lock, as publish() does. Findings that remain in `after` cannot be repaired from the
// store, such as a damaged blob.
[[nodiscard]] base::Result<RepairReport> repair_tree(const catalog::Catalog& catalog,
                                                     const blobs::BlobStore& blobs,
                                                     const std::filesystem::path& tree,
                                                     const base::Clock& clock);

}  // namespace wheelyard::indexer
