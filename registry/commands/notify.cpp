// `wheelyard-registry notify test`: runs the command of [notify] on a test notice.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "lib/base/process/terminal.hpp"
#include "lib/notify/notify.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {
namespace {

struct NotifyArguments {
    std::filesystem::path config;
};

void add_notify_options(CLI::App& command, NotifyArguments& arguments) {
    add_config_option(command, arguments.config);
}

// Also fails if the command does.
base::Status run_notify(const NotifyArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(arguments.config));
    WHEELYARD_ASSIGN(const base::Finished done, notify::try_command(config.notify_settings(), clock));
    base::print(stdout, done.out + done.err);
    if (done.exit_code == 0) return {};
    return base::fail("notify.command", "The command of [notify] failed",
                      done.timed_out ? "it took too long" : "status " + std::to_string(done.exit_code));
}

}  // namespace

std::vector<Command> notify_commands() {
    return {
        {"notify", "test", "Run the command of [notify] on a test notice, and show what it prints",
         "-c registry.toml", setup(add_notify_options, run_notify)},
    };
}

}  // namespace wheelyard::registry
