#include "registry/commands/notify.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "lib/base/text/printable.hpp"
#include "lib/notify/notify.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

void add_notify_options(CLI::App& command, NotifyArguments& arguments) {
    add_config_option(command, arguments.config);
}

base::Status run_notify(const NotifyArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(arguments.config));
    WHEELYARD_ASSIGN(const base::Finished done, notify::try_command(config.notify_settings(), clock));
    std::fputs(base::printable(done.out + done.err).c_str(), stdout);
    if (done.exit_code == 0) return {};
    return base::fail("notify.command", "The command of [notify] failed",
                      done.timed_out ? "it took too long" : "status " + std::to_string(done.exit_code));
}

}  // namespace wheelyard::registry
