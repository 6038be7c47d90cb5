#include "registry/config/index_changes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::registry {
namespace {

std::string quoted(const std::string& text) {
    return "\"" + text + "\"";
}

std::string word(bool value) {
    return value ? "true" : "false";
}

std::string list(const auto& names) {
    std::vector<std::string> texts;
    for (const std::string& name : names)
        texts.push_back(quoted(name));
    return "[" + base::join(texts, ", ") + "]";
}

std::string limit(std::uint64_t value, std::uint64_t unit) {
    return value == no_quota ? "0" : std::to_string(value / unit);
}

// The keys whose values are shown; all but `policy`, `build`, `attested_by` and `upstream`, which are tables.
std::vector<std::pair<std::string, std::string>> values_of(const IndexConfig& index) {
    return {{"title", quoted(index.title)},
            {"read", index.is_private ? "\"token\"" : "\"public\""},
            {"read_logs", index.are_logs_for_tokens ? "\"token\"" : "\"index\""},
            {"ask", index.may_strangers_ask ? "\"anyone\"" : "\"token\""},
            {"archived", word(index.is_archived)},
            {"pages", word(index.has_pages)},
            {"sdists", word(index.sdists)},
            {"variants", word(index.policy.variants)},
            {"max_file_mib", std::to_string(index.max_file_bytes / base::mib)},
            {"quota_mib", limit(index.quota.bytes, base::mib)},
            {"quota_files", limit(index.quota.files, 1)},
            {"token_quota_mib", limit(index.token_quota.bytes, base::mib)},
            {"token_quota_files", limit(index.token_quota.files, 1)},
            {"inherits", list(index.inherits)},
            {"owns", list(index.owns)},
            {"staging", quoted(index.staging)}};
}

void compare(const IndexConfig& now, const IndexConfig& wanted, std::vector<IndexChange>& changes) {
    const auto before = values_of(now);
    const auto after = values_of(wanted);
    for (std::size_t at = 0; at < before.size(); ++at) {
        if (before[at] != after[at])
            changes.push_back({now.name, before[at].first, before[at].second, after[at].second});
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

// Whether the index has this upstream already, as far as it says whom the server asks, and with which credentials.
bool has_upstream_at(const IndexConfig& index, const UpstreamConfig& wanted) {
    return std::any_of(index.upstreams.begin(), index.upstreams.end(), [&](const UpstreamConfig& known) {
        return known.name == wanted.name && known.url == wanted.url && known.hosts == wanted.hosts &&
               known.private_hosts == wanted.private_hosts && known.proxy == wanted.proxy &&
               known.username == wanted.username && known.password_file == wanted.password_file;
    });
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

base::Status check_upstream_places(const RegistryConfig& now, const RegistryConfig& wanted) {
    for (const IndexConfig& index : wanted.indexes) {
        const IndexConfig* known = now.find_index(index.name);
        for (const UpstreamConfig& upstream : index.upstreams) {
            const bool reaches_inside =
                !upstream.private_hosts.empty() || !upstream.proxy.empty() || !upstream.password_file.empty();
            if (!reaches_inside || (known != nullptr && has_upstream_at(*known, upstream))) continue;
            return wire::fail(
                "index.upstream_place",
                "Over HTTP no upstream gets private_hosts, a proxy or a password_file, and one that has "
                "them keeps its hosts",
                upstream.cache_index,
                "use `wheelyard-registry index set` on the server's machine, or registry.toml");
        }
    }
    return {};
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
