// What the catalog says of touched projects, some of them at a time: one transaction for them, as each costs
// SQLite's locks, and not one for all, as its log is not shortened meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "indexer/project_view.hpp"
#include "indexer/touched.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct ProjectRead {
    const TouchedProjects::value_type* touched = nullptr;
    std::optional<CatalogView> found = {};  // nullopt: its index shows no such project
    catalog::Serial read_at = 0;            // the catalog's last one then
};

// From `next` on, which is moved behind them, until they have so many rows of files and projects.
[[nodiscard]] base::Result<std::vector<ProjectRead>> read_touched_projects(
    const catalog::Catalog& catalog, const catalog::Inheritance& inheritance,
    TouchedProjects::const_iterator& next, TouchedProjects::const_iterator end, std::size_t most_rows);

}  // namespace wheelyard::indexer
