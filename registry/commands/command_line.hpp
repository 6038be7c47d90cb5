// What the command lines have in common: examples, exit statuses, and what a command works on.
#pragma once

#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace wheelyard::registry {

// A command whose help ends with an example and the exit statuses.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& example);

// --config. Without it, `config` becomes find_config_file(); if there is none either, parsing fails.
void add_config_option(CLI::App* command, std::filesystem::path& config);

// --config, or --url with --token-file. Without either, as add_config_option().
void add_target(CLI::App* command, std::filesystem::path& config, std::string& url,
                std::filesystem::path& token_file);

}  // namespace wheelyard::registry
