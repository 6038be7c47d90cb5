// What a changed file changes in the indexes, and what a running server may not change. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

struct IndexChange {
    std::string index;
    std::string key = {};  // of its table; empty: the index is new, or removed
    std::string before = {};
    std::string after = {};
    bool is_removed = false;
    [[nodiscard]] std::string text() const;  // "quota_mib: 0 -> 100", "created" or "removed"
};

// What is new or different in `wanted`, in its order, then what it lacks.
[[nodiscard]] std::vector<IndexChange> list_index_changes(const RegistryConfig& now,
                                                          const RegistryConfig& wanted);

// The keys outside [[index]] that differ, such as "server.listen": a running server keeps the values that it
// started with.
[[nodiscard]] std::vector<std::string> settings_that_wait(const RegistryConfig& now,
                                                          const RegistryConfig& wanted);

// "config.needs_restart" if the file names another store.
[[nodiscard]] base::Status check_same_store(const RegistryConfig& now, const RegistryConfig& wanted);

// For the audit log: the texts of its changes by index.
[[nodiscard]] std::map<std::string, std::string> reasons_of(const std::vector<IndexChange>& changes);

}  // namespace wheelyard::registry
