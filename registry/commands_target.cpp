#include "registry/commands_target.hpp"

#include <CLI/CLI.hpp>

namespace wheelyard::registry {

void add_target(CLI::App* command, std::filesystem::path& config, std::string& url,
                std::filesystem::path& token_file) {
    auto* here =
        command
            ->add_option("-c,--config", config, "configuration file of a registry with a local data folder")
            ->check(CLI::ExistingFile);
    auto* there =
        command->add_option("--url", url, "URL of a remote registry (instead of --config)")->excludes(here);
    command->add_option("--token-file", token_file, "with --url: file that contains the token")->needs(there);
    command->callback([command, here, there, &token_file] {
        if (here->empty() && there->empty()) throw CLI::RequiredError("--config or --url");
        if (!there->empty() && token_file.empty())
            throw CLI::RequiredError(command->get_name() + " --url: --token-file");
    });
}

}  // namespace wheelyard::registry
