// The rows of the table of commands, each part in the file of its commands. The order of the parts is in
// ../main.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/commands/command.hpp"

namespace wheelyard::registry {

[[nodiscard]] std::vector<Command> init_commands();
[[nodiscard]] std::vector<Command> token_commands();
[[nodiscard]] std::vector<Command> notify_commands();
[[nodiscard]] std::vector<Command> dump_commands();
[[nodiscard]] std::vector<Command> apply_commands();
[[nodiscard]] std::vector<Command> index_commands();
[[nodiscard]] std::vector<Command> lifecycle_commands();
[[nodiscard]] std::vector<Command> import_commands();
[[nodiscard]] std::vector<Command> prefetch_commands();
[[nodiscard]] std::vector<Command> reading_commands();
[[nodiscard]] std::vector<Command> release_project_commands();
[[nodiscard]] std::vector<Command> files_commands();
[[nodiscard]] std::vector<Command> contains_commands();
[[nodiscard]] std::vector<Command> audit_osv_commands();
[[nodiscard]] std::vector<Command> attest_commands();
[[nodiscard]] std::vector<Command> attest_verify_commands();
[[nodiscard]] std::vector<Command> audit_commands();
[[nodiscard]] std::vector<Command> audit_export_commands();
[[nodiscard]] std::vector<Command> maintenance_commands();
[[nodiscard]] std::vector<Command> migrate_commands();
[[nodiscard]] std::vector<Command> task_commands();

// Prints events, then files, tokens (without their hashes), and the list of indexes.
[[nodiscard]] base::Status run_dump(const std::filesystem::path& config);

// Writes registry.toml into `directory` (made if missing). "init.exists": there is one.
[[nodiscard]] base::Status run_init(const std::filesystem::path& directory);

}  // namespace wheelyard::registry
