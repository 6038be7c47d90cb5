// Cross-checks `inherits`, `owns`, `staging` and `read` of the indexes, and converts them for the catalog.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/toml.hpp"
#include "lib/store/catalog/inheritance.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Reports unknown parents and cycles. `tables` and `indexes` have the same order.
void check_index_rules(std::vector<io::TomlTable>& tables, const std::vector<IndexConfig>& indexes);
// Reports whatever would show files of a private index to everyone, or would bring them to a public index.
void check_readers(std::vector<io::TomlTable>& tables, const RegistryConfig& config);
// The index of this registry that the URL leads to, as far as the configuration knows its own addresses.
[[nodiscard]] std::optional<std::string> own_index(const std::string& url, const RegistryConfig& config);
// Reports an index without `sdists` or `variants` that would show those of an index that it inherits from.
void check_kinds_of_files(std::vector<io::TomlTable>& tables, const RegistryConfig& config);
// Reports builds that are requested for an index that does not exist.
void check_builds(std::vector<io::TomlTable>& tables, const RegistryConfig& config);
// Says whether the index takes a file of this name: an sdist only where `sdists` is set, a variant wheel only
// where `variants` is. Errors "lifecycle.sdist", "lifecycle.variant".
[[nodiscard]] base::Status check_takes(const IndexConfig& index, std::string_view filename);
// The index that receives the wheels of tasks for `index`: its staging index, or itself.
[[nodiscard]] std::string target_of(const IndexConfig& index);
// Error "index.archived": the index takes no new files.
[[nodiscard]] base::Status check_not_archived(const IndexConfig& index);
// Also of the caches of upstreams, which are as private as their index.
[[nodiscard]] std::vector<catalog::IndexRule> index_rules(const RegistryConfig& config);

}  // namespace wheelyard::registry
