// The option `-c,--config` of the commands that work on a data folder.
#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace wheelyard::registry {

// Without the option, `config` becomes find_config_file(); if there is none either, parsing fails.
void add_config_option(CLI::App* command, std::filesystem::path& config);

}  // namespace wheelyard::registry
