#include "registry/config/index_rules.hpp"

#include <algorithm>
#include <string>

#include "lib/base/text.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::registry {
namespace {

const IndexConfig* find(const std::vector<IndexConfig>& indexes, const std::string& name) {
    const auto found = std::find_if(indexes.begin(), indexes.end(),
                                    [&](const IndexConfig& index) { return index.name == name; });
    return found == indexes.end() ? nullptr : &*found;
}

// Extends `path` from its last name back to its first, if such a path exists; `seen` bounds the search.
bool leads_back(const std::vector<IndexConfig>& indexes, std::vector<std::string>& path,
                std::vector<std::string>& seen) {
    const IndexConfig* index = find(indexes, path.back());
    if (index == nullptr) return false;
    for (const std::string& parent : index->inherits) {
        path.push_back(parent);
        if (parent == path.front()) return true;
        if (std::find(seen.begin(), seen.end(), parent) == seen.end()) {
            seen.push_back(parent);
            if (leads_back(indexes, path, seen)) return true;
        }
        path.pop_back();
    }
    return false;
}

}  // namespace

void read_index_rule(io::TomlTable& table, IndexConfig& index) {
    index.inherits = table.strings_or("inherits", {});
    for (auto name = index.inherits.begin(); name != index.inherits.end(); ++name) {
        if (std::find(index.inherits.begin(), name, *name) != name)
            table.report("inherits", "`" + *name + "` is listed twice");
    }
    index.staging = table.string_or("staging", "");
    for (const std::string& name : table.strings_or("owns", {})) {
        if (!wheel::is_valid_name(name))
            table.report("owns",
                         "`" + name + "` is not a valid project name (letters, digits, `-`, `_`, `.`)");
        index.owns.insert(wheel::normalize_name(name));
    }
}

void check_index_rules(std::vector<io::TomlTable>& tables, const std::vector<IndexConfig>& indexes) {
    for (std::size_t at = 0; at < indexes.size(); ++at) {
        for (const std::string& parent : indexes[at].inherits) {
            if (find(indexes, parent) == nullptr)
                tables[at].report("inherits", "there is no [[index]] named `" + parent + "`");
        }
        const std::string& staging = indexes[at].staging;
        if (!staging.empty() && (staging == indexes[at].name || find(indexes, staging) == nullptr))
            tables[at].report("staging", "there is no other [[index]] named `" + staging + "`");
        std::vector<std::string> path{indexes[at].name};
        std::vector<std::string> seen;
        if (leads_back(indexes, path, seen))
            tables[at].report("inherits",
                              "an index cannot inherit from itself: " + base::join(path, " from "));
    }
}

std::vector<catalog::IndexRule> index_rules(const RegistryConfig& config) {
    std::vector<catalog::IndexRule> rules;
    for (const IndexConfig& index : config.indexes) {
        catalog::IndexRule rule{.index = index.name, .inherits = index.inherits, .owns = index.owns};
        for (const UpstreamConfig& upstream : index.upstreams)
            rule.upstreams.push_back(upstream.cache_index);
        rules.push_back(std::move(rule));
    }
    return rules;
}

}  // namespace wheelyard::registry
