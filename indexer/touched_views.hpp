// What the catalog says of touched projects, some of them at a time: one transaction for them, as each costs
// SQLite's locks, and not one for all, as its log is not shortened meanwhile.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "indexer/project_view.hpp"
#include "indexer/touched.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct ProjectRead {
    const TouchedProjects::value_type* touched = nullptr;
    bool is_shown = false;  // by its index; else `found` says nothing
    CatalogView found = {};
    catalog::Serial read_at = 0;  // the catalog's last one then
};

class TouchedViews {
  public:
    TouchedViews(const catalog::Catalog& catalog, const catalog::Inheritance& inheritance,
                 const TouchedProjects& touched)
        : catalog_(catalog), inheritance_(inheritance), next_(touched.begin()), end_(touched.end()) {}

    // The next ones, until they have `max_rows` rows of files and projects; none: that was all. They are
    // good until the next call, which reads into the same: few texts of a million rows need new room.
    [[nodiscard]] base::Result<std::span<ProjectRead>> read_some(std::size_t max_rows);

  private:
    [[nodiscard]] std::size_t room_in_rows() const;
    const catalog::Catalog& catalog_;
    const catalog::Inheritance& inheritance_;
    TouchedProjects::const_iterator next_;
    TouchedProjects::const_iterator end_;
    std::vector<ProjectRead> read_;
};

}  // namespace wheelyard::indexer
