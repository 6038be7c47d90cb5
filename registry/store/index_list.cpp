#include "registry/store/index_list.hpp"

#include <array>
#include <utility>

#include "lib/base/process/user.hpp"
#include "registry/config/index_tables.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view list_format = "wheelyard.index_list/1";
constexpr std::array by_words{std::pair(DecidedBy::file, std::string_view("file")),
                              std::pair(DecidedBy::commands, std::string_view("commands"))};

}  // namespace

std::string_view word_of(DecidedBy by) {
    return by_words[static_cast<std::size_t>(by)].second;
}

std::string render_index_list(const IndexList& list) {
    return io::Json::object(
               {{"format", list_format}, {"decided_by", word_of(list.decided_by)}, {"indexes", list.tables}})
        .render();
}

base::Result<IndexList> parse_index_list(std::string_view text) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(text));
    const std::string by = document.string_or("decided_by", "");
    for (const auto& [value, word] : by_words) {
        if (by == word && document.string_or("format", "") == list_format)
            return IndexList{value, document.items("indexes")};
    }
    return base::fail("index.list", "The catalog's list of indexes has an unknown form", by,
                      "a newer program has written it: upgrade this one");
}

base::Result<std::optional<IndexList>> read_index_list(const database::Store& store) {
    WHEELYARD_ASSIGN(const std::string text, store.index_list());
    if (text.empty()) return std::nullopt;
    WHEELYARD_ASSIGN(IndexList list, parse_index_list(text));
    return list;
}

base::Result<RegistryConfig> config_at_start(const RegistryConfig& file,
                                             const std::optional<IndexList>& list) {
    if (!list || (list->decided_by == DecidedBy::file && !file.is_of_several())) return file;
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
