#include "registry/store/index_list.hpp"

#include <set>
#include <string>
#include <utility>

#include "lib/base/process/user.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/config/index_tables.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view list_format = "wheelyard.index_list/1";
constexpr std::string_view commands_word = "commands";

}  // namespace

std::string render_index_list(const IndexList& list) {
    return io::Json::object({{"format", list_format},
                             {"decided_by", list.is_of_commands ? commands_word : "file"},
                             {"indexes", list.tables}})
        .render();
}

base::Result<IndexList> parse_index_list(std::string_view text) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(text));
    const std::string format = document.string_or("format", "");
    if (format != list_format)
        return base::fail("index.list", "The catalog's list of indexes has an unknown form", format,
                          "a newer program has written it: upgrade this one");
    return IndexList{document.items("indexes"), document.string_or("decided_by", "") == commands_word};
}

base::Result<std::optional<IndexList>> read_index_list(const database::Store& store) {
    WHEELYARD_ASSIGN(const std::string text, store.index_list());
    if (text.empty()) return std::nullopt;
    WHEELYARD_ASSIGN(IndexList list, parse_index_list(text));
    return list;
}

base::Result<std::string> tables_to_paste(const RegistryConfig& file, const std::optional<IndexList>& list) {
    std::string text;
    if (!list || !list->is_of_commands || file.is_of_several()) return text;
    WHEELYARD_ASSIGN(const RegistryConfig in_force, with_indexes(file, list->tables));
    std::set<std::string> changed;
    for (const IndexChange& change : list_index_changes(file, in_force))
        if (!change.is_removed) changed.insert(change.index);  // else the file has it
    for (const std::string& index : changed)
        text += (text.empty() ? "" : "\n") + render_table(*find_table(list->tables, index));
    return text;
}

base::Result<RegistryConfig> config_at_start(const RegistryConfig& file,
                                             const std::optional<IndexList>& list) {
    if (!list || !(list->is_of_commands || file.is_of_several())) return file;
    return with_indexes(file, list->tables);
}

base::Result<RegistryConfig> config_in_force(const RegistryConfig& file, const database::Store& store) {
    WHEELYARD_ASSIGN(const auto list, read_index_list(store));
    if (!list) return file;
    WHEELYARD_ASSIGN(const bool runs, server_runs(file.store));
    return runs ? with_indexes(file, list->tables) : config_at_start(file, list);
}

base::Result<RegistryConfig> read_config_in_force(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(file));
    base::become_owner_of(config.store);
    return config_in_force(config, database::Store(config.database()));
}

}  // namespace wheelyard::registry
