#include "registry/config/index_tables.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wire/problem.hpp"
#include "lib/wire/task.hpp"
#include "registry/config/index_keys.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/config/limits.hpp"
#include "registry/config/policy_config.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

std::vector<BuildTarget> read_builds(io::TomlTable& index) {
    std::vector<BuildTarget> builds;
    for (io::TomlTable& table : index.tables("build")) {
        BuildTarget target{table.string("index"), table.strings_or("pythons", {}),
                           table.strings_or("accelerators", {})};
        if (target.accelerators.empty()) target.accelerators.emplace_back();
        if (target.pythons.empty()) table.report("pythons", "name at least one, for example [\"3.11\"]");
        for (const std::string& python : target.pythons) {
            if (!wire::is_python_version(python))
                table.report("pythons", "expected a version such as 3.11, found `" + python + "`");
        }
        builds.push_back(std::move(target));
    }
    return builds;
}

IndexConfig read_index(io::TomlTable& table, const RegistryConfig& so_far) {
    IndexConfig index;
    index.name = table.string("name");
    if (const std::string fault = index_name_fault(index.name); !fault.empty()) {
        table.report("name", fault);
    } else if (so_far.find_index(index.name) != nullptr) {
        table.report("name", "two indexes are named `" + index.name + "`");
    }
    index.policy = read_policy(table.table_or_empty("policy"));
    for (const IndexKey& key : index_keys())
        key.read(table, index);
    index.builds = read_builds(table);
    index.attested_by = read_attested_by(table);
    index.upstreams = read_upstreams(table, index.name);
    for (UpstreamConfig& upstream : index.upstreams) {
        upstream.sdists = index.sdists;
        upstream.policy.variants = index.policy.variants;
    }
    return index;
}

// "name" first, as people write it.
Json new_table(const IndexEdit& edit) {
    return merge_patch(Json::object({{"name", edit.index}}), edit.keys);
}

std::string render_key(std::string_view key) {
    const bool is_bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return base::is_ascii_alnum(c) || c == '_' || c == '-';
    });
    return is_bare ? std::string(key) : Json(key).render();
}

bool is_table(const Json& value) {
    return value.as_object() != nullptr;
}

bool is_array_of_tables(const Json& value) {
    return !value.items().empty() && std::all_of(value.items().begin(), value.items().end(), is_table);
}

// JSON's texts, numbers and arrays of them are TOML's, except that TOML escapes DEL.
void render_keys(const std::string& path, const Json& table, std::string& text) {
    for (const auto& [key, value] : *table.as_object()) {
        if (is_table(value) || is_array_of_tables(value)) continue;
        text += render_key(key) + " = " + base::replace_all(value.render(), "\x7f", "\\u007f") + "\n";
    }
    for (const auto& [key, value] : *table.as_object()) {
        const std::string inner = path + "." + render_key(key);
        if (is_table(value)) {
            text += "\n[" + inner + "]\n";
            render_keys(inner, value, text);
        } else if (is_array_of_tables(value)) {
            for (const Json& item : value.items()) {
                text += "\n[[" + inner + "]]\n";
                render_keys(inner, item, text);
            }
        }
    }
}

}  // namespace

void read_index_tables(io::TomlTable& root, RegistryConfig& config) {
    config.indexes.clear();
    config.index_tables = root.json("index");
    std::vector<io::TomlTable> tables = root.tables("index");
    for (io::TomlTable& table : tables)
        config.indexes.push_back(read_index(table, config));
    check_index_rules(tables, config.indexes);
    check_readers(tables, config);
    check_kinds_of_files(tables, config);
    check_builds(tables, config);
    if (config.indexes.empty()) root.report("index", "at least one [[index]] is required");
}

base::Result<RegistryConfig> with_indexes(const RegistryConfig& settings, const Json& tables) {
    if (const std::size_t bytes = tables.render().size(); bytes > max_config_bytes)
        return wire::fail(
            "config.too_large", "The indexes are larger than a configuration may be", std::to_string(bytes),
            "at most " + std::to_string(max_config_bytes) + " bytes; remove keys", base::Recovery::person);
    io::TomlDocument document = io::TomlDocument::of_json(Json::object({{"index", tables}}), settings.file);
    RegistryConfig config = settings;
    io::TomlTable root = document.root();
    read_index_tables(root, config);
    if (auto read = document.finish(); !read)
        return base::fail_as(base::ErrorKind::invalid, base::Recovery::person, std::move(read.error()));
    return config;
}

Json merge_patch(const Json& target, const Json& patch) {
    const auto* changes = patch.as_object();
    if (changes == nullptr) return patch;
    const auto* present = target.as_object();
    Json::Object merged = present != nullptr ? *present : Json::Object();
    for (const auto& [key, value] : *changes) {
        const auto at = std::find_if(merged.begin(), merged.end(), [&name = key](const Json::Member& member) {
            return member.first == name;
        });
        if (at == merged.end()) {
            if (!value.is_null()) merged.emplace_back(key, merge_patch({}, value));
        } else if (value.is_null()) {
            merged.erase(at);
        } else {
            at->second = merge_patch(at->second, value);
        }
    }
    return merged;
}

base::Result<Json> edit_tables(const Json& tables, const IndexEdit& edit) {
    if (edit.kind == IndexEdit::Kind::apply) {
        if (edit.revision.empty() || edit.revision == revision_of(tables)) return edit.keys;
        return wire::fail("index.changed", "The indexes have changed in the meantime", {},
                          "repeat the command: it shows the difference", base::Recovery::person);
    }
    if (!is_table(edit.keys))
        return wire::fail("index.keys", "The keys of an index are not a table", edit.index,
                          "send them as an object");
    if (const Json* name = edit.keys.find("name"); name != nullptr && *name != Json(edit.index))
        return wire::fail("index.name", "The name of an index never changes", name->render(),
                          "create another index, and archive this one");
    const Json* present = find_table(tables, edit.index);
    if (edit.kind == IndexEdit::Kind::create && present != nullptr) {
        if (*present == new_table(edit)) return tables;
        return wire::fail("index.exists", "There is an index of this name with other keys", edit.index,
                          "change that one, or choose another name", base::Recovery::person);
    }
    if (edit.kind == IndexEdit::Kind::set && present == nullptr)
        return wire::fail("index.unknown", "There is no index with this name", edit.index, "create it first");
    if (!edit.revision.empty() && (present == nullptr || edit.revision != revision_of(*present)))
        return wire::fail("index.changed", "The index has changed in the meantime", edit.index,
                          "read it again, and repeat the change with its revision", base::Recovery::person);
    Json after = Json::array();
    for (const Json& table : tables.items())
        after.push(&table == present ? merge_patch(table, edit.keys) : table);
    if (present == nullptr) after.push(new_table(edit));
    return after;
}

const Json* find_table(const Json& tables, std::string_view index) {
    const auto& items = tables.items();
    const auto found = std::find_if(items.begin(), items.end(), [index](const Json& table) {
        return table.string_or("name", "") == index;
    });
    return found == items.end() ? nullptr : &*found;
}

std::string revision_of(const Json& tables) {
    constexpr std::size_t digits = 16;
    return base::sha256_hex(tables.render()).substr(0, digits);
}

std::string render_table(const Json& table) {
    std::string text = "[[index]]\n";
    render_keys("index", table, text);
    return text;
}

}  // namespace wheelyard::registry
