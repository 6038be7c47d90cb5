// `wheelyard-registry apply`: shows what the file changes in the indexes that are in force, and makes it decide them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/index.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view apply_indexes = "applyIndexes";

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

// With what to call to open them.
base::Status check_none_named(const ApplyArguments& arguments, const io::Json& plan) {
    const std::vector<std::string> opened = plan.texts("opened");
    if (opened.empty()) return {};
    std::string options;
    for (const std::string& index : arguments.open)
        options += " --open " + index;
    for (const std::string& index : opened)
        options += " --open " + index;
    const std::string file = arguments.config.native();
    return base::fail("index.opened", "A command made this index private, and the file makes it public",
                      base::join(opened, ", "),
                      "write `read = \"token\"` into its table in " + file +
                          ", or make it public: `wheelyard-registry apply" + options + " -c " +
                          base::quote_shell(file) + "`");
}

// The difference is shown before it is applied, also if it is refused.
base::Status run_apply(const ApplyArguments& arguments, const OpenPublisher& open_publisher,
                       const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig file, read_config(arguments.config));
    WHEELYARD_ASSIGN(const auto door, Door::open({.config = arguments.config, .new_store = NewStore::created},
                                                 open_publisher, clock));
    io::Json asked = io::Json::object(
        {{"indexes", file.index_tables}, {"open", io::Json::array_of(arguments.open)}, {"dry_run", true}});
    WHEELYARD_ASSIGN(std::string answer, door->ask(apply_indexes, asked));
    WHEELYARD_ASSIGN(const io::Json plan, io::parse_json(answer));
    if (!arguments.json) print_changes(plan);
    WHEELYARD_TRY(check_none_named(arguments, plan));
    if (!arguments.check) {
        asked.set("dry_run", false);
        asked.set("before", plan.string_or("before", ""));
        WHEELYARD_ASSIGN(answer, door->ask(apply_indexes, asked));
    }
    if (arguments.json) {
        base::print(stdout, answer + "\n");
        return {};
    }
    WHEELYARD_ASSIGN(const io::Json changed, io::parse_json(answer));
    print_end(changed, *door);
    return {};
}

}  // namespace

std::vector<Command> apply_commands() {
    return {
        {heading::indexes, "apply",
         "Show what the file changes in the indexes, and apply it to the running server",
         "--check -c registry.toml", setup(add_apply_options, run_apply),
         "Run it on the server's machine, as its user or as root. Without a running server, the next start "
         "shows the change. What `index create`, `set` and `archive` changed since is part of the "
         "difference.\n"
         "Exit status: 0 success, 1 the file was not applied (see standard error), 2 wrong usage or "
         "configuration.\n"},
    };
}

}  // namespace wheelyard::registry
