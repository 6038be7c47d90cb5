// The [[index]] tables: of the configuration file, and as JSON with the same keys, in the catalog and in requests.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/io/toml.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Reads all [[index]] of the document into `config`, whose other tables have been read, and checks them together.
void read_index_tables(io::TomlTable& root, RegistryConfig& config);

// The same settings with other indexes. Errors "config.invalid" of kind invalid: each problem begins with a key's path,
// "index.main.quota_mib"; "config.too_large".
[[nodiscard]] base::Result<RegistryConfig> with_indexes(const RegistryConfig& settings,
                                                        const io::Json& tables);

// One change of the list of indexes.
struct IndexEdit {
    enum class Kind { create, set, apply };
    Kind kind = Kind::set;
    std::string index;
    // Keys of the [[index]] table. For `set` a merge patch (RFC 7396): null removes a key, which then has its default. For
    // `apply` all tables, as the configuration file has them.
    io::Json keys = io::Json::object();
    std::string revision = {};  // the index, or all, as the caller knows it; empty: whatever it is
    std::vector<std::string> may_open = {};  // to apply: private indexes that the file may make public
};

// The tables after the edit. To create an index that exists with the same keys changes nothing. Errors: "index.exists"
// and "index.changed" (conflict), "index.unknown" (missing), "index.name" (invalid).
[[nodiscard]] base::Result<io::Json> edit_tables(const io::Json& tables, const IndexEdit& edit);

// RFC 7396: members of `patch` replace those of `target`, and null removes them.
[[nodiscard]] io::Json merge_patch(const io::Json& target, const io::Json& patch);

// The table of an index; nullptr: there is none.
[[nodiscard]] const io::Json* find_table(const io::Json& tables, std::string_view index);
// Changes whenever the value does: of a table, or of all.
[[nodiscard]] std::string revision_of(const io::Json& tables);
// As an operator writes it into registry.toml: "[[index]]", then the keys, then the tables in it.
[[nodiscard]] std::string render_table(const io::Json& table);

}  // namespace wheelyard::registry
