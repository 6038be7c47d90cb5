// The [[index]] tables: of the configuration file, and as JSON with the same keys, in the catalog and in
// requests.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/io/toml.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Checks all [[index]] of the document together, which have been read into `config`, as its other tables have.
void check_index_tables(io::TomlTable& root, RegistryConfig& config);

// The same settings with other indexes. Errors "config.invalid" of kind invalid: each problem begins with a
// key's path, "index.main.quota_mib"; "config.too_large".
[[nodiscard]] base::Result<RegistryConfig> with_indexes(const RegistryConfig& settings,
                                                        const io::Json& tables);

// The table of an index; nullptr: there is none.
[[nodiscard]] const io::Json* find_table(const io::Json& tables, std::string_view index);
// Changes whenever the value does: of a table, or of all.
[[nodiscard]] std::string revision_of(const io::Json& tables);
// As an operator writes it into registry.toml: "[[index]]", then the keys, then the tables in it.
[[nodiscard]] std::string render_table(const io::Json& table);

}  // namespace wheelyard::registry
