// What a changed file changes in the indexes of a running server, and what it may not change. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

struct IndexChange {
    std::string index;
    std::string key = {};  // of its table; empty: the index is new
    std::string before = {};
    std::string after = {};
    [[nodiscard]] std::string text() const;  // "quota_mib: 0 -> 100", or "created"
};

// What is new or different in `wanted`, in its order.
[[nodiscard]] std::vector<IndexChange> list_index_changes(const RegistryConfig& now,
                                                          const RegistryConfig& wanted);

// The same for a running server. "config.needs_restart" names all that only a restart can change: an index that is removed, its
// `read` and upstreams, `inherits` and `owns` where an upstream is in the order, and the store's folder. The other
// tables of the file are not compared: they take effect at the next start.
[[nodiscard]] base::Result<std::vector<IndexChange>> find_index_changes(const RegistryConfig& now,
                                                                        const RegistryConfig& wanted);

// For the audit log: the texts of its changes by index.
[[nodiscard]] std::map<std::string, std::string> reasons_of(const std::vector<IndexChange>& changes);

}  // namespace wheelyard::registry
