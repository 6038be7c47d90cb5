// The list of the registry's indexes that is in force: a row of the catalog, written in the transaction that changes them.
//
//     {"format":"wheelyard.index_list/1","decided_by":"file","indexes":[{"name":"main","quota_mib":512}]}
//
// `indexes` has the keys of [[index]] tables. The configuration file decides them until a command changes one. From then
// on the list decides, also at a start, until the file is applied (docs/explanation/decisions/0017). For one of several
// nodes the list decides always, and a file only when it is applied.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"

namespace wheelyard::registry {

enum class DecidedBy { file, commands };
[[nodiscard]] std::string_view word_of(DecidedBy by);

struct IndexList {
    DecidedBy decided_by = DecidedBy::file;
    io::Json tables = io::Json::array();
};
[[nodiscard]] std::string render_index_list(const IndexList& list);
[[nodiscard]] base::Result<IndexList> parse_index_list(std::string_view text);
// The list in the store; nullopt: nothing has been served from it yet.
[[nodiscard]] base::Result<std::optional<IndexList>> read_index_list(const database::Store& store);

// The indexes that a start of the server would have: those of the list if commands decided it or several nodes share it,
// else the file's.
[[nodiscard]] base::Result<RegistryConfig> config_at_start(const RegistryConfig& file,
                                                           const std::optional<IndexList>& list);
// The configuration file with the indexes of the running server; without one, with those of the next start. Commands
// beside a server so go by its rules, not by a file that is not applied yet.
[[nodiscard]] base::Result<RegistryConfig> config_in_force(const RegistryConfig& file,
                                                           const database::Store& store);
// For a command: its files are those of the store's owner from here on (base::become_owner_of).
[[nodiscard]] base::Result<RegistryConfig> read_config_in_force(const std::filesystem::path& file);

}  // namespace wheelyard::registry
