// The list of the registry's indexes that is in force: a row of the catalog, written in the transaction that
// changes them.
//
//     {"format":"wheelyard.index_list/1","decided_by":"file","indexes":[{"name":"main","quota_mib":512}]}
//
// `indexes` has the keys of [[index]] tables. The configuration file decides them
// (docs/explanation/decisions/0041): a start and a reload apply it. Several nodes have one list, which a
// node's file changes only where `apply` is run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/store/store.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

struct IndexList {
    io::Json tables = io::Json::array();
    // Commands of an earlier version have changed it since its file was applied ("decided_by":"commands").
    bool is_of_commands = false;
};
// Earlier versions read no list without "decided_by".
[[nodiscard]] std::string render_index_list(const IndexList& list);
[[nodiscard]] base::Result<IndexList> parse_index_list(std::string_view text);
// The list in the store; nullopt: nothing has been served from it yet.
[[nodiscard]] base::Result<std::optional<IndexList>> read_index_list(const database::Store& store);

// What commands of an earlier version made or changed and the file does not say: as [[index]] tables for it.
// Empty: the file says it all, or the list is that of several nodes.
[[nodiscard]] base::Result<std::string> tables_to_paste(const RegistryConfig& file,
                                                        const std::optional<IndexList>& list);

// The file with the indexes of the list where that counts without being applied: for several nodes, and what
// commands of an earlier version changed.
[[nodiscard]] base::Result<RegistryConfig> config_at_start(const RegistryConfig& file,
                                                           const std::optional<IndexList>& list);
// The configuration file with the indexes of the running server; without one, with those of the next start.
// Commands beside a server so go by its rules, not by a file that is not applied yet.
[[nodiscard]] base::Result<RegistryConfig> config_in_force(const RegistryConfig& file,
                                                           const database::Store& store);
// For a command: its files are those of the store's owner from here on (base::become_owner_of).
[[nodiscard]] base::Result<RegistryConfig> read_config_in_force(const std::filesystem::path& file);

}  // namespace wheelyard::registry
