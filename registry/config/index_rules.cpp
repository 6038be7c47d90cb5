#include "registry/config/index_rules.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/store/catalog/version_variants.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/problem.hpp"

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

// "host:port/path".
std::string place_of(const base::Url& url) {
    return url.host_and_port() + url.path;
}

// What is staged for an index has the names that the index owns: they come to the staging index from no
// upstream and no other index either. One that inherits its index gets them from there.
void share_owned_names(const RegistryConfig& config, std::vector<catalog::IndexRule>& rules) {
    const catalog::Inheritance plain(rules, catalog::Readers::any);
    for (const IndexConfig& index : config.indexes) {
        if (index.staging.empty() || index.staging == index.name) continue;
        const std::vector<std::string> order = plain.order(index.staging);
        if (std::find(order.begin(), order.end(), index.name) != order.end()) continue;
        for (catalog::IndexRule& rule : rules) {
            if (rule.index == index.staging) rule.owns.insert(index.owns.begin(), index.owns.end());
        }
    }
}

}  // namespace

std::optional<std::string> own_index(const std::string& text, const RegistryConfig& config) {
    const auto url = base::parse_url(text);
    if (!url) return std::nullopt;
    std::vector<std::string> roots;
    if (const auto own = base::parse_url(config.server.public_url + "/"); own)
        roots.push_back(place_of(*own));
    for (const http::ListenPoint& point : config.server.listen) {
        const std::string port = ":" + std::to_string(point.port) + "/";
        roots.push_back(point.address + port);
        for (const std::string_view loopback : {"localhost", "127.0.0.1", "[::1]"})
            roots.push_back(std::string(loopback) + port);
    }
    for (const IndexConfig& index : config.indexes) {
        for (const std::string& root : roots) {
            if (place_of(*url).starts_with(root + index.name + "/")) return index.name;
        }
    }
    return std::nullopt;
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

void check_kinds_of_files(std::vector<io::TomlTable>& tables, const RegistryConfig& config) {
    for (std::size_t at = 0; at < config.indexes.size(); ++at) {
        const IndexConfig& index = config.indexes[at];
        const auto report = [&](const std::string& parent, const std::string& key, const char* files) {
            tables[at].report("inherits", "`" + parent + "` has " + key + " = true, so `" + index.name +
                                              "` would offer its " + files + ": set " + key + " = true, too");
        };
        for (const std::string& parent : index.inherits) {
            const IndexConfig* inherited = config.find_index(parent);
            if (inherited == nullptr) continue;
            if (inherited->sdists && !index.sdists) report(parent, "sdists", "source distributions");
            if (inherited->policy.variants && !index.policy.variants)
                report(parent, "variants", "variant wheels");
        }
    }
}

void check_builds(std::vector<io::TomlTable>& tables, const RegistryConfig& config) {
    for (std::size_t at = 0; at < config.indexes.size(); ++at) {
        const IndexConfig& index = config.indexes[at];
        for (const BuildTarget& target : index.builds) {
            if (config.find_index(target.index) == nullptr)
                tables[at].report("build", "there is no index `" + target.index + "`");
            else if (index.is_private && !config.is_private(target.index))
                tables[at].report("build", "everyone may read `" + target.index +
                                               "`: wheels of private source distributions would be public");
        }
    }
}

base::Status check_takes(const IndexConfig& index, std::string_view filename) {
    if (!index.sdists && wheel::is_sdist_filename(filename))
        return wire::fail("lifecycle.sdist", "The target index takes no source distributions", index.name,
                          "set sdists = true for this index");
    if (!index.policy.variants && catalog::is_variant_wheel(filename))
        return wire::fail("lifecycle.variant", "The target index takes no variant wheels", index.name,
                          "set variants = true for this index");
    return {};
}

base::Status check_not_archived(const IndexConfig& index) {
    if (!index.is_archived) return {};
    return wire::fail({409, "index.archived"}, "This index is archived: it takes no new files", index.name,
                      "choose another index", base::Recovery::person);
}

void check_readers(std::vector<io::TomlTable>& tables, const RegistryConfig& config) {
    for (std::size_t at = 0; at < config.indexes.size(); ++at) {
        const IndexConfig& index = config.indexes[at];
        if (index.may_strangers_ask && index.is_private)
            tables[at].report("ask", "only tokens read this index: nobody else can ask");
        const IndexConfig* staging = config.find_index(index.staging);
        if (staging != nullptr && staging->is_private != index.is_private)
            tables[at].report("staging",
                              "`" + staging->name + "` and `" + index.name +
                                  "` must have the same `read`: a private wheel is never promoted to "
                                  "a public index, nor staged in one");
        if (staging != nullptr && staging->are_logs_for_tokens != index.are_logs_for_tokens)
            tables[at].report("staging",
                              "`" + staging->name + "` and `" + index.name +
                                  "` must have the same `read_logs`: each shows the builds for both");
        if (index.is_private) continue;
        for (const std::string& parent : index.inherits) {
            if (config.is_private(parent))
                tables[at].report("inherits", "everyone may read `" + index.name + "`, but `" + parent +
                                                  "` has read = \"token\": its files would be public");
        }
        for (const UpstreamConfig& upstream : index.upstreams) {
            const auto own = own_index(upstream.url, config);
            if (own && config.is_private(*own))
                tables[at].report("upstream", "`" + upstream.url + "` is this registry's index `" + *own +
                                                  "`, which has read = \"token\": its files would be public");
        }
    }
}

std::vector<catalog::IndexRule> index_rules(const RegistryConfig& config) {
    std::vector<catalog::IndexRule> rules;
    std::vector<catalog::IndexRule> of_caches;
    for (const IndexConfig& index : config.indexes) {
        catalog::IndexRule& rule = rules.emplace_back(catalog::IndexRule{.index = index.name,
                                                                         .inherits = index.inherits,
                                                                         .owns = index.owns,
                                                                         .is_private = index.is_private});
        for (const UpstreamConfig& upstream : index.upstreams) {
            rule.upstreams.push_back(upstream.cache_index);
            of_caches.push_back({.index = upstream.cache_index, .is_private = index.is_private});
        }
    }
    rules.insert(rules.end(), of_caches.begin(), of_caches.end());
    share_owned_names(config, rules);
    return rules;
}

std::string target_of(const IndexConfig& index) {
    return index.staging.empty() ? index.name : index.staging;
}

}  // namespace wheelyard::registry
