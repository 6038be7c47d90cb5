// The configuration that `wheelyard-registry init` writes, valid as it is, and the keys of the reference page.
#include <algorithm>

#include "lib/base/text/text.hpp"
#include "registry/config/config_place.hpp"
#include "registry/config/config_rows.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view head =
    R"toml(# Configuration of wheelyard-registry: listening addresses, storage, indexes and their policies.
# docs/reference/registry-config.md describes every key. Commented-out values are the defaults.
)toml";

constexpr std::string_view tail =
    R"toml(# "tag.platform_without_elf" = "reject"

# Agents of this server's version, for pip: the Debian package's unit imports its wheels into this index.
# [[index]]
# name = "tools"
# title = "Wheelyard's programs for clusters and users"
)toml";

constexpr std::size_t comment_column = 28;

// A key or a table of the file: "index.upstream.name" is in the table "index.upstream".
struct Place {
    std::string path = {};
    std::string table = {};
    bool is_table = false;
    bool is_list = false;
};

// Visits each key once: not those of a table that a sample stands for, as of [index.upstream.policy].
void visit_config(const std::function<void(const Place&, const io::TomlFacts&, const std::string&)>& visit) {
    std::string shown_by_sample;
    config_rows().visit([&](const std::string& prefix, const io::TomlFacts& facts, const std::string& shown) {
        if (!shown_by_sample.empty() && prefix.starts_with(shown_by_sample)) return;
        Place place{.path = prefix + facts.name};
        const auto dot = place.path.rfind('.');
        place.table = dot == std::string::npos ? std::string() : place.path.substr(0, dot);
        place.is_list = facts.type == "tables";
        place.is_table = place.is_list || facts.type == "table";
        if (place.is_table && !facts.sample.empty()) shown_by_sample = place.path + ".";
        visit(place, facts, shown);
    });
}

std::string comment(const std::string& text) {
    return text.empty() ? text : "# " + base::replace_all(text, "\n", "\n# ") + "\n";
}

std::string render_key(const io::TomlFacts& facts, const std::string& shown) {
    const std::string line = std::string(facts.key()) + " = " + (facts.sample.empty() ? shown : facts.sample);
    if (facts.is_set) return comment(facts.hint) + line + "\n";
    std::string text = "# " + line;
    if (!facts.hint.empty()) {
        text.resize(std::max(text.size() + 1, comment_column), ' ');
        text += "# " + facts.hint;
    }
    return text + "\n";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> document_config_keys() {
    std::vector<std::pair<std::string, std::string>> tables;
    visit_config([&](const Place& place, const io::TomlFacts& facts, const std::string& shown) {
        const auto known = std::find_if(tables.begin(), tables.end(),
                                        [&](const auto& table) { return table.first == place.table; });
        auto& [table, lines] = known == tables.end() ? tables.emplace_back(place.table, "") : *known;
        lines += io::document_key(facts, place.is_table ? place.path : std::string(facts.key()), shown);
    });
    return tables;
}

std::string config_template() {
    std::string text(head), open;
    visit_config([&](const Place& place, const io::TomlFacts& facts, const std::string& shown) {
        const std::string& table = place.is_table ? place.path : place.table;
        if (table != open) {
            const bool is_comment =
                place.is_table && (!place.table.empty() || (place.is_list && !facts.is_set));
            text += "\n" + (place.is_table ? comment(facts.hint) : "") + (is_comment ? "# " : "") +
                    (place.is_list ? "[[" + table + "]]\n" : "[" + table + "]\n");
            open = table;
        }
        text += place.is_table ? facts.sample : render_key(facts, shown);
    });
    return text.append(tail);
}

std::string initial_config(const std::filesystem::path& folder) {
    std::string text = config_template();
    if (!is_system_folder(folder)) return text;
    text = base::replace_all(text, "\ndirectory = \"data\"\n", "\ndirectory = \"/var/lib/wheelyard\"\n");
    // The last lines: what the unit imports.
    const std::size_t tools = text.rfind("# [[index]]\n");
    return text.substr(0, tools) + base::replace_all(text.substr(tools), "# ", "");
}

}  // namespace wheelyard::registry
