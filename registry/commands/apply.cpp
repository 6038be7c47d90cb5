// `wheelyard-registry apply`: shows what the file changes in the indexes that are in force, and makes it decide them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/index.hpp"
#include "registry/indexes/local_indexes.hpp"

namespace wheelyard::registry {
namespace {

struct ApplyArguments {
    std::filesystem::path config;
    std::vector<std::string> open;
    bool check = false;  // only show
    bool json = false;
};

void add_apply_options(CLI::App& command, ApplyArguments& arguments) {
    add_config_option(command, arguments.config);
    command
        .add_option("--open", arguments.open,
                    "An index that a command made private and that the file may make public; repeatable")
        ->allow_extra_args(false);
    command.add_flag("--check,--dry-run", arguments.check, "Only show the changes");
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

base::Status run_apply(const ApplyArguments& arguments, const base::Clock& clock) {
    const LocalChange change{
        .choose = [](const RegistryConfig&, const RegistryConfig& file) -> base::Result<io::Json> {
            return file.index_tables;
        },
        .by = DecidedBy::file,
        .dry_run = arguments.check,
        .may_open = arguments.open};
    const auto show = [&](const IndexesChanged& changed) {
        if (!arguments.json) print_changes(index_changed_json(changed, {}, arguments.check));
    };
    WHEELYARD_ASSIGN(const IndexesChanged changed,
                     change_indexes_here(arguments.config, change, show, clock));
    const io::Json document = index_changed_json(changed, {}, arguments.check);
    if (arguments.json)
        std::printf("%s\n", document.render().c_str());
    else
        print_end(document);
    return {};
}

}  // namespace

std::vector<Command> apply_commands() {
    return {
        {"", "apply", "Show what the file changes in the indexes, and apply it to the running server",
         "--check -c registry.toml", setup(add_apply_options, run_apply),
         "Run it on the server's machine, as its user or as root. Without a running server, the next start "
         "shows the change. What `index create`, `set` and `archive` changed since is part of the "
         "difference.\n"
         "Exit status: 0 success, 1 the file is refused or was not applied (see standard error), 2 wrong "
         "usage.\n"},
    };
}

}  // namespace wheelyard::registry
