// Finds files that a project's page may have listed and no longer does; they are removed from the tree after
// the page. Reads only the catalog, never the tree, so that a run after a kill finds the same files.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Deleted and quarantined files, and those of an index that supplied the project before: if it is moved, any of `indexes`.
[[nodiscard]] base::Result<std::set<TreeFile>> gone_from_project(
    const catalog::Catalog& catalog, const catalog::Inheritance& inheritance, const ProjectName& name,
    const Touched& touched, const CatalogView& found, const std::vector<std::string>& indexes);
// For a project that its index no longer shows: all files that any of `indexes` has or had.
[[nodiscard]] base::Result<std::set<TreeFile>> gone_with_project(const catalog::Catalog& catalog,
                                                                 const std::string& project,
                                                                 const Touched& touched,
                                                                 const std::vector<std::string>& indexes);

}  // namespace wheelyard::indexer
