#include "registry/commands_target.hpp"

#include <CLI/CLI.hpp>

namespace wheelyard::registry {

void add_target(CLI::App* command, std::filesystem::path& config, std::string& url,
                std::filesystem::path& token_file) {
    auto* here = command
                     ->add_option("-c,--config", config,
                                  "the configuration file of a registry whose data folder is here")
                     ->check(CLI::ExistingFile);
    auto* there = command->add_option("--url", url, "or: the address of a registry anywhere")->excludes(here);
    command->add_option("--token-file", token_file, "with --url: a file that holds the token")->needs(there);
    command->callback([command, here, there, &token_file] {
        if (here->empty() && there->empty()) throw CLI::RequiredError("--config or --url");
        if (!there->empty() && token_file.empty())
            throw CLI::RequiredError(command->get_name() + " --url: --token-file");
    });
}

}  // namespace wheelyard::registry
