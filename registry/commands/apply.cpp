// `wheelyard-registry apply`: shows what the file changes in the indexes that are in force, and applies it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/utf8.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/door.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view apply_indexes = "applyIndexes";

struct ApplyArguments {
    std::filesystem::path config;
    bool check = false;  // only show
    bool json = false;
};

void add_apply_options(CLI::App& command, ApplyArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_flag("--check,--dry-run", arguments.check, "Only show the changes");
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

// Lines "INDEX: KEY: BEFORE -> AFTER" of a document "wheelyard.index_changed/1".
void print_changes(const io::Json& changed) {
    for (const io::Json& change : changed.items("changes"))
        base::print(stdout, base::printable_line(change.string_or("index", "") + ": " +
                                                 change.string_or("change", "")) +
                                "\n");
    if (changed.items("changes").empty()) base::print(stdout, "no index changes\n");
}

// The difference is shown before it is applied.
base::Status run_apply(const ApplyArguments& arguments, const OpenPublisher& open_publisher,
                       const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig file, read_config(arguments.config));
    WHEELYARD_ASSIGN(const auto door, Door::open({.config = arguments.config, .new_store = NewStore::created},
                                                 open_publisher, clock));
    io::Json asked = io::Json::object({{"indexes", file.index_tables}, {"dry_run", true}});
    WHEELYARD_ASSIGN(std::string answer, door->ask(apply_indexes, asked));
    WHEELYARD_ASSIGN(const io::Json plan, io::parse_json(answer));
    if (!arguments.json) print_changes(plan);
    if (!arguments.check) {
        asked.set("dry_run", false);
        asked.set("before", plan.string_or("before", ""));
        WHEELYARD_ASSIGN(answer, door->ask(apply_indexes, asked));
    }
    if (arguments.json) {
        base::print(stdout, answer + "\n");
        return {};
    }
    if (arguments.check) return {};
    base::print(stdout, door->is_served() ? "applied\n"
                                          : "no server runs with this store; its next start shows this\n");
    return {};
}

}  // namespace

std::vector<Command> apply_commands() {
    return {
        {heading::indexes, "apply",
         "Show what the file changes in the indexes, and apply it to the running server",
         "--check -c registry.toml", setup(add_apply_options, run_apply),
         "Run it on the server's machine, as its user or as root. Without a running server, the next start "
         "shows the change. Of several nodes it changes all.\n"
         "Exit status: 0 success, 1 the file was not applied (see standard error), 2 wrong usage or "
         "configuration.\n"},
    };
}

}  // namespace wheelyard::registry
