#include "registry/commands/apply.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "registry/commands/command_line.hpp"
#include "registry/commands/index.hpp"
#include "registry/indexes/local_indexes.hpp"

namespace wheelyard::registry {

void add_apply_options(CLI::App& command, ApplyArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_flag("--check,--dry-run", arguments.check, "Only show the changes");
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

base::Status run_apply(const ApplyArguments& arguments, const base::Clock& clock) {
    const LocalChange change{
        .choose = [](const RegistryConfig&, const RegistryConfig& file) -> base::Result<io::Json> {
            return file.index_tables;
        },
        .by = DecidedBy::file,
        .dry_run = arguments.check};
    const auto show = [&](const IndexesChanged& changed) {
        if (!arguments.json) print_changes(changed);
    };
    WHEELYARD_ASSIGN(const LocallyChanged done, change_indexes_here(arguments.config, change, show, clock));
    print_end(done, {}, arguments.check, arguments.json);
    return {};
}

}  // namespace wheelyard::registry
