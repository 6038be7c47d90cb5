// Which files a project's page named maybe once and names no more: they leave the tree behind it. Asked of
// the catalog and never of the tree, so that a killed run's successor finds the same.
#pragma once

#include <set>
#include <string>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Deleted and quarantined files, and those of an index that supplied the project until now.
[[nodiscard]] base::Result<std::set<TreeFile>> gone_from_project(const catalog::Catalog& catalog,
                                                                 const catalog::Inheritance& inheritance,
                                                                 const ProjectName& name,
                                                                 const Touched& touched,
                                                                 const CatalogView& found);
// Of a project that its index shows no more: all that any index has or had.
[[nodiscard]] base::Result<std::set<TreeFile>> gone_with_project(const catalog::Catalog& catalog,
                                                                 const std::string& project,
                                                                 const Touched& touched);

}  // namespace wheelyard::indexer
