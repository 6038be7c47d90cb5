#include "registry/commands_config.hpp"

#include <CLI/CLI.hpp>

#include "lib/base/process/process.hpp"
#include "registry/config/config_place.hpp"

namespace wheelyard::registry {

void add_config_option(CLI::App* command, std::filesystem::path& config) {
    command->add_option("-c,--config", config, config_help)->check(CLI::ExistingFile);
    command->parse_complete_callback([&config] {
        if (config.empty()) config = find_config_file(base::current_environment());
        if (config.empty()) throw CLI::ValidationError(no_config);
    });
}

}  // namespace wheelyard::registry
