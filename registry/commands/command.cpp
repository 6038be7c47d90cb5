#include "registry/commands/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "lib/base/check.hpp"

namespace wheelyard::registry {
namespace {

std::string help_example(std::string_view words) {
    return "\nExample:\n  wheelyard-registry " + std::string(words) + "\n";
}

CLI::App& group_of(CLI::App& app, const CommandGroup& row) {
    const std::string word(row.name);
    for (CLI::App* const known :
         app.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; }))
        return *known;
    CLI::App* const group = app.add_subcommand(word, std::string(row.summary));
    group->group(std::string(row.heading));
    group->require_subcommand(1);
    if (!row.example.empty()) group->footer(help_example(word + " " + std::string(row.example)));
    return *group;
}

}  // namespace

std::vector<AddedCommand> add_commands(CLI::App& app, std::span<const CommandGroup> groups,
                                       std::span<const Command> commands) {
    std::vector<AddedCommand> added;
    for (const Command& row : commands) {
        WHEELYARD_CHECK(!row.below.empty());  // without a heading --help lacks it
        const auto group = std::find_if(groups.begin(), groups.end(),
                                        [&](const CommandGroup& one) { return one.name == row.below; });
        const bool is_in_group = group != groups.end();
        CLI::App& parent = is_in_group ? group_of(app, *group) : app;
        CLI::App* const command = parent.add_subcommand(std::string(row.name), std::string(row.summary));
        command->group(is_in_group ? "Subcommands" : std::string(row.below));
        std::string words(is_in_group ? std::string(row.below) + " " : "");
        words.append(row.name).append(" ").append(row.example);
        command->footer(help_example(words) + "\n" + std::string(row.help_end));
        added.push_back({command, row.setup(*command)});
    }
    return added;
}

base::Result<int> run_parsed(std::span<const AddedCommand> commands, const Services& services) {
    const auto parsed = std::find_if(commands.begin(), commands.end(),
                                     [](const AddedCommand& command) { return command.app->parsed(); });
    WHEELYARD_CHECK(parsed != commands.end());
    return parsed->run(services);
}

}  // namespace wheelyard::registry
