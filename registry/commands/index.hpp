// `wheelyard-registry index list|show|create|set|archive`: the indexes of a server on this machine, of a store without a
// server, or of a remote registry.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/commands/door.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct IndexArguments {
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
    std::string index;
    std::vector<std::string> keys;   // KEY=VALUE
    std::vector<std::string> unset;  // keys that get their default
    std::filesystem::path from;      // a TOML file with keys
    std::string revision;
    bool dry_run = false;
    bool json = false;
};
void add_index_list_options(CLI::App& command, IndexArguments& arguments);
void add_index_show_options(CLI::App& command, IndexArguments& arguments);
void add_index_create_options(CLI::App& command, IndexArguments& arguments);
void add_index_set_options(CLI::App& command, IndexArguments& arguments);
void add_index_archive_options(CLI::App& command, IndexArguments& arguments);
[[nodiscard]] base::Status run_index_list(const IndexArguments& arguments);
[[nodiscard]] base::Status run_index_show(const IndexArguments& arguments);
[[nodiscard]] base::Status run_index_create(const IndexArguments& arguments,
                                            const OpenPublisher& open_publisher, const base::Clock& clock);
[[nodiscard]] base::Status run_index_set(const IndexArguments& arguments, const OpenPublisher& open_publisher,
                                         const base::Clock& clock);
[[nodiscard]] base::Status run_index_archive(const IndexArguments& arguments,
                                             const OpenPublisher& open_publisher, const base::Clock& clock);

// "KEY=VALUE" as a merge patch; the value is TOML, or text that is no TOML: `quota_mib=5`, `title=Wheels of the site`,
// `policy.preset=mirror`. "index.key_value".
[[nodiscard]] base::Result<io::Json> parse_key_value(const std::string& text);

// Of an answer, lines "INDEX: KEY: BEFORE -> AFTER".
void print_changes(const io::Json& answer);
// How it ended; with `json` the answer itself instead.
void print_end(const std::string& answer, const Door& door, bool dry_run, bool json);

}  // namespace wheelyard::registry
