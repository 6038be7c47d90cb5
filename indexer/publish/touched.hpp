// What a range of the catalog's event log touches: the projects of each index, including indexes that inherit
// them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct ProjectName {
    std::string index;
    std::string project;
    auto operator<=>(const ProjectName&) const = default;
};
struct Touched {
    std::set<std::string> from;       // the indexes of the events
    std::set<std::string> filenames;  // of the events; empty if is_every_file
    bool is_every_file = false;       // the log was read from the beginning
    std::set<TreeFile> deleted;
    catalog::Serial newest = 0;  // the newest event's
    // Its files may now come from another index, so any file of this project in the tree's index may have to
    // be removed.
    bool is_moved = false;

    [[nodiscard]] bool has(const std::string& filename) const {
        return is_every_file || filenames.contains(filename);
    }
};

using TouchedProjects = std::map<ProjectName, Touched>;

struct TouchedByLog {
    std::uint64_t events = 0;
    TouchedProjects projects;
    std::set<std::string> changed_indexes;  // the rule of the index, or of one that it inherits from, changed
    std::map<std::string, std::set<TreeFile>> deleted = {};  // by project, across indexes
};

// The events in (after, until]. The projects of a changed index are not listed: the caller knows which of
// them the tree has.
[[nodiscard]] base::Result<TouchedByLog> read_touched(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance,
                                                      catalog::Serial after, catalog::Serial until);

// Deleted and quarantined files, and those of an index that supplied the project before: if it is moved, any
// of `indexes`.
[[nodiscard]] base::Result<std::set<TreeFile>> gone_from_project(
    const catalog::Catalog& catalog, const catalog::Inheritance& inheritance, const ProjectName& name,
    const Touched& touched, const CatalogView& found, const std::vector<std::string>& indexes);
// For a project that its index no longer shows: all files that any of `indexes` has or had.
[[nodiscard]] base::Result<std::set<TreeFile>> gone_with_project(const catalog::Catalog& catalog,
                                                                 const std::string& project,
                                                                 const Touched& touched,
                                                                 const std::vector<std::string>& indexes);

}  // namespace wheelyard::indexer
