// What a part of the catalog's event log touches: which projects of which indexes, those that show them by
// inheritance among them, and what each index's own log has to say of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "indexer/tree/event_log.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct ProjectName {
    std::string index;
    std::string project;
    auto operator<=>(const ProjectName&) const = default;
};
struct Touched {
    std::set<std::string> from;  // the events' own indexes
    std::set<std::string>
        filenames;               // of the events; of a log that is read from its begin they are not noted:
    bool is_every_file = false;  // it is every file
    std::set<TreeFile> deleted;
    catalog::Serial newest = 0;  // of the events
    // Its files may come from another index than before, so that any file of this project's name that the
    // tree has for this index may have to go.
    bool is_moved = false;

    [[nodiscard]] bool has(const std::string& filename) const {
        return is_every_file || filenames.contains(filename);
    }
};

using TouchedProjects = std::map<ProjectName, Touched>;

struct TouchedByLog {
    std::uint64_t events = 0;
    TouchedProjects projects;
    std::set<std::string> changed_indexes;  // whose rule, or that of one they inherit from, is another one
    std::map<std::string, std::set<TreeFile>> deleted = {};  // by project, in whatever index
    std::map<std::string, EventLines> logs = {};             // by index
};

// The events in (after, until]. A changed index has all its projects touched: its caller knows which the tree
// has.
[[nodiscard]] base::Result<TouchedByLog> read_touched(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance,
                                                      catalog::Serial after, catalog::Serial until);

}  // namespace wheelyard::indexer
