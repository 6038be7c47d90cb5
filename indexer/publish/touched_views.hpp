// Reads touched projects from the catalog in batches. One transaction per batch, and few queries: one per
// project would pay for SQLite's locks or a way to the database each time, and one for all would keep the WAL
// from being truncated.
//
// The order is that of each project's newest event, and files that came after `up_to` are left to a later
// run. So the pages of a promoted set change in the order of its events: the first file's page last, when it
// finds the others there. A project of kept pages is a batch of its own.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/kept_pages.hpp"
#include "indexer/publish/touched.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct ProjectRead {
    const TouchedProjects::value_type* touched = nullptr;
    bool is_shown = false;  // by its index; otherwise `found` is unspecified
    CatalogView found = {};
    catalog::Serial read_at = 0;  // the catalog's last serial at that time; 0: unknown
};

class TouchedViews {
  public:
    TouchedViews(const catalog::Catalog& catalog, const catalog::Inheritance& inheritance,
                 const TouchedProjects& touched, catalog::Serial up_to = catalog::newest_of_all,
                 KeptPages* kept = nullptr);

    // The next batch, up to about `max_rows` rows of files and projects; empty at the end. Valid until the
    // next call, which reuses the memory.
    [[nodiscard]] base::Result<std::span<ProjectRead>> read_some(std::size_t max_rows);

  private:
    [[nodiscard]] std::size_t buffered_rows() const;
    [[nodiscard]] bool is_kept(std::size_t at) const;
    const catalog::Catalog& catalog_;
    const catalog::Inheritance& inheritance_;
    catalog::Serial up_to_;
    KeptPages* kept_;
    std::vector<const TouchedProjects::value_type*> order_;
    std::size_t next_ = 0;
    std::size_t next_at_once_ = 32;
    std::vector<ProjectRead> read_;
};

}  // namespace wheelyard::indexer
