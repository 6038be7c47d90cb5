// The indexes of the registry, as `[[index]]` tables of the configuration file have them
// (docs/reference/api.md, "Indexes"): a token with the action `index` for all indexes and projects lists
// them, and a command of this machine applies the file.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/config/index_changes.hpp"

namespace wheelyard::registry {

// The `[[index]]` tables of the file, and who applies them.
struct IndexOrder {
    io::Json tables = io::Json::array();
    std::string before =
        {};             // revision of the tables in force, as the caller knows them; empty: whatever they are
    std::string actor;  // for the audit log
    bool dry_run = false;
};

struct IndexesChanged {
    std::vector<IndexChange> changes = {};
    catalog::Serial serial = 0;  // once it is visible, so is the change; 0 for a dry run
    std::string before = {};     // revision of the tables before the change
};

// Applies the file to the running server (index_apply.hpp), or to a store without one (local_indexes.hpp).
class IndexService {
  public:
    virtual ~IndexService() = default;
    // All of the tables are durable and in force when it returns, or nothing has changed; pages follow.
    // Thread-safe. Errors: "index.changed" if the tables in force are others than `before`.
    [[nodiscard]] virtual base::Result<IndexesChanged> apply(const IndexOrder& order) = 0;
};

// "index.changed" unless the order is for these tables.
[[nodiscard]] base::Status check_before(const IndexOrder& order, const io::Json& in_force);

}  // namespace wheelyard::registry
