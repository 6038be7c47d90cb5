// What the command lines have in common: --config, and what a command works on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace wheelyard::registry {

// --config. Without it, `config` becomes find_config_file(); if there is none either, parsing fails.
void add_config_option(CLI::App& command, std::filesystem::path& config);

// --config, or --url with --token-file. Without either, as add_config_option().
void add_target(CLI::App& command, std::filesystem::path& config, std::string& url,
                std::filesystem::path& token_file);

// "name       text" for people; a terminal's lines are wrapped below the text. `text` may be of others.
void print_part(std::string_view name, std::string_view text, std::size_t name_width = 10);

}  // namespace wheelyard::registry
