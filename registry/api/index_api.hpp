// Indexes over HTTP (docs/reference/api.md, "Indexes"): a token with the action `index` for all indexes and projects lists,
// creates and changes them. The keys are those of [[index]] in registry.toml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/config/index_tables.hpp"

namespace wheelyard::registry {

struct IndexesChanged {
    std::vector<IndexChange> changes = {};
    io::Json tables = io::Json::array();  // of all indexes, after the change
    catalog::Serial serial = 0;           // once it is visible, so is the change; 0 for a dry run
    std::string before = {};              // revision of the tables before the change
    // Indexes that a command made private, and that the file makes public without naming them (`may_open`).
    std::vector<std::string> opened = {};
};

struct IndexCaller {
    std::string name;       // for the audit log
    bool is_local = false;  // a person of this machine, who may place upstreams inside the site
};

// Changes the indexes of the running server (index_apply.hpp), or of a store without one (local_indexes.hpp).
class IndexService {
  public:
    virtual ~IndexService() = default;
    // All of the edit is durable and in force when it returns, or nothing has changed; pages follow. Thread-safe.
    [[nodiscard]] virtual base::Result<IndexesChanged> change(const IndexEdit& edit,
                                                              const IndexCaller& caller, bool dry_run) = 0;
    // Who decided the list last: "file" or "commands".
    [[nodiscard]] virtual std::string_view decided_by_word() const = 0;
};

struct IndexOrder {  // the body of a request
    IndexEdit edit;
    bool dry_run = false;
};
// {"format":"wheelyard.index_change/1","keys":{…},"revision":…,"dry_run":…}. To set keys, `index` is from the path; to
// create, it is empty, and the name is among the keys. Errors of kind invalid: "index.body".
[[nodiscard]] base::Result<IndexOrder> parse_index_order(std::string_view body, IndexEdit::Kind kind,
                                                         const std::string& index);

// What commands and the API return.
[[nodiscard]] io::Json index_json(const io::Json& table);  // "wheelyard.index/1": name, revision, keys
[[nodiscard]] io::Json indexes_json(const io::Json& tables, std::string_view decided_by);
[[nodiscard]] io::Json index_changed_json(const IndexesChanged& changed, const std::string& index,
                                          bool dry_run);

}  // namespace wheelyard::registry
