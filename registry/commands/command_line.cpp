#include "registry/commands/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "registry/config/config_place.hpp"

namespace wheelyard::registry {
void add_config_option(CLI::App& command, std::filesystem::path& config) {
    command.add_option("-c,--config", config, config_help)->type_name("TEXT:FILE");
    command.parse_complete_callback([&config] {
        if (config.empty()) config = find_config_file(base::current_environment());
        if (config.empty()) throw CLI::ValidationError(no_config);
    });
}

void add_target(CLI::App& command, std::filesystem::path& config, std::string& url,
                std::filesystem::path& token_file) {
    auto* here = command.add_option("-c,--config", config, config_help)->type_name("TEXT:FILE");
    auto* there =
        command.add_option("--url", url, "URL of a remote registry (instead of --config)")->excludes(here);
    command.add_option("--token-file", token_file, "With --url: file that contains the token")->needs(there);
    command.callback([&command, there, &config, &token_file] {
        if (there->empty() && config.empty()) config = find_config_file(base::current_environment());
        if (there->empty() && config.empty())
            throw CLI::ValidationError(std::string(no_config) + "; --url URL names a remote registry");
        if (!there->empty() && token_file.empty())
            throw CLI::RequiredError(command.get_name() + " --url: --token-file");
    });
}

void print_part(std::string_view name, std::string_view text, std::size_t name_width) {
    std::string line(name);
    line.resize(std::max(name_width, line.size()) + 1, ' ');
    const std::string one_line = base::replace_all(text, "\n", " ");  // a second one could look like ours
    base::print_message(stdout, line.append(one_line).append("\n"));
}

}  // namespace wheelyard::registry
