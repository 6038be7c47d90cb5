// `inherits`, `owns` and `staging` of the configuration's indexes: read, checked against each other, and as
// the catalog keeps them.
#pragma once

#include <vector>

#include "lib/io/toml.hpp"
#include "registry/catalog/inheritance.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Of one [[index]]: what can be said without the others.
void read_index_rule(io::TomlTable& table, IndexConfig& index);
// Of all together: unknown parents, and circles. `tables` and `indexes` are the same ones in the same order.
void check_index_rules(std::vector<io::TomlTable>& tables, const std::vector<IndexConfig>& indexes);
[[nodiscard]] std::vector<catalog::IndexRule> index_rules(const RegistryConfig& config);

}  // namespace wheelyard::registry
