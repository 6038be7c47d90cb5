// What the command lines have in common: --config, what a command works on, and all published files for
// commands that search them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/config/config.hpp"

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

// Calls `use` for each file of the index, or of all where its name is empty, in the order of names; also for
// those that were fetched from its upstreams (their index is `main.pypi`), and for those in quarantine; its
// first error ends it. Error "index.unknown", and those of the catalog.
[[nodiscard]] base::Status for_each_file(const RegistryConfig& config, const std::string& index,
                                         const std::function<base::Status(const catalog::FileRow&)>& use);

}  // namespace wheelyard::registry
