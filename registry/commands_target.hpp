// The target of a command: a local data folder or a remote registry.
#pragma once

#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace wheelyard::registry {

// --config, or --url with --token-file. Without either, `config` becomes find_config_file(); if there is none,
// parsing fails.
void add_target(CLI::App* command, std::filesystem::path& config, std::string& url,
                std::filesystem::path& token_file);

}  // namespace wheelyard::registry
