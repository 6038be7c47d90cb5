#include "registry/config/index_changes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/wire/problem.hpp"
#include "registry/config/config_rows.hpp"

namespace wheelyard::registry {
namespace {

void compare(const IndexConfig& now, const IndexConfig& wanted, std::vector<IndexChange>& changes) {
    for (const auto& row : index_rows()) {
        const std::string before = row.shown(now), after = row.shown(wanted);
        if (before != after) changes.push_back({now.name, row.facts.name, before, after});
    }
    inspect::Policy policy = wanted.policy;
    policy.variants = now.policy.variants;  // a key of its own
    if (now.policy != policy) changes.push_back({now.name, "policy"});
    if (now.builds != wanted.builds) changes.push_back({now.name, "build"});
    if (now.attested_by != wanted.attested_by) changes.push_back({now.name, "attested_by"});
    if (now.upstreams != wanted.upstreams) changes.push_back({now.name, "upstream"});
}

// The keys of `some` whose values `others` has not.
void note_other_keys(const io::Json& some, const io::Json& others, std::set<std::string>& keys) {
    for (const auto& [table, settings] : *some.as_object()) {
        if (settings.as_object() == nullptr) continue;  // the file has no such table
        const io::Json* other_settings = others.find(table);
        for (const auto& [key, value] : *settings.as_object()) {
            const io::Json* other = other_settings == nullptr ? nullptr : other_settings->find(key);
            if (other == nullptr || !(*other == value)) keys.insert(table + "." + key);
        }
    }
}

}  // namespace

std::string IndexChange::text() const {
    if (key.empty()) return is_removed ? "removed" : "created";
    if (before.empty() && after.empty()) return key + ": changed";
    return key + ": " + before + " -> " + after;
}

std::vector<IndexChange> list_index_changes(const RegistryConfig& now, const RegistryConfig& wanted) {
    std::vector<IndexChange> changes;
    for (const IndexConfig& index : wanted.indexes) {
        const IndexConfig* known = now.find_index(index.name);
        if (known != nullptr)
            compare(*known, index, changes);
        else
            changes.push_back({index.name});
    }
    for (const IndexConfig& index : now.indexes) {
        if (wanted.find_index(index.name) == nullptr)
            changes.push_back({.index = index.name, .is_removed = true});
    }
    return changes;
}

std::vector<std::string> settings_that_wait(const RegistryConfig& now, const RegistryConfig& wanted) {
    std::set<std::string> keys;
    note_other_keys(now.settings, wanted.settings, keys);
    note_other_keys(wanted.settings, now.settings, keys);
    return {keys.begin(), keys.end()};
}

base::Status check_same_store(const RegistryConfig& now, const RegistryConfig& wanted) {
    if (now.store == wanted.store) return {};
    return wire::fail("config.needs_restart", "A running server keeps its store", "[store] directory",
                      "stop the server, and start it with this file", base::Recovery::person);
}

std::map<std::string, std::string> reasons_of(const std::vector<IndexChange>& changes) {
    std::map<std::string, std::string> reasons;
    for (const IndexChange& change : changes) {
        std::string& reason = reasons[change.index];
        reason += (reason.empty() ? "" : "; ") + change.text();
    }
    return reasons;
}

}  // namespace wheelyard::registry
