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

CLI::App& group_of(CLI::App& app, std::span<const CommandGroup> groups, std::string_view name) {
    const std::string word(name);
    for (CLI::App* const known :
         app.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; }))
        return *known;
    const auto row = std::find_if(groups.begin(), groups.end(),
                                  [&](const CommandGroup& group) { return group.name == name; });
    WHEELYARD_CHECK(row != groups.end());
    CLI::App* const group = app.add_subcommand(word, std::string(row->summary));
    group->require_subcommand(1);
    if (!row->example.empty()) group->footer(help_example(word + " " + std::string(row->example)));
    return *group;
}

}  // namespace

std::vector<AddedCommand> add_commands(CLI::App& app, std::span<const CommandGroup> groups,
                                       std::span<const Command> commands, std::span<const Heading> headings) {
    std::vector<AddedCommand> added;
    for (const Command& row : commands) {
        CLI::App& parent = row.group.empty() ? app : group_of(app, groups, row.group);
        CLI::App* const command = parent.add_subcommand(std::string(row.name), std::string(row.summary));
        std::string words(row.group);
        words.append(words.empty() ? "" : " ").append(row.name).append(" ").append(row.example);
        command->footer(help_example(words) + "\n" + std::string(row.help_end));
        added.push_back({command, row.setup(*command)});
    }
    std::size_t with_heading = 0;
    for (const Heading& heading : headings) {
        for (const std::string_view command : heading.commands)
            app.get_subcommand(std::string(command))->group(std::string(heading.title));
        with_heading += heading.commands.size();
    }
    WHEELYARD_CHECK(with_heading == app.get_subcommands([](const CLI::App*) { return true; }).size());
    return added;
}

base::Result<int> run_parsed(std::span<const AddedCommand> commands, const Services& services) {
    const auto parsed = std::find_if(commands.begin(), commands.end(),
                                     [](const AddedCommand& command) { return command.app->parsed(); });
    WHEELYARD_CHECK(parsed != commands.end());
    return parsed->run(services);
}

}  // namespace wheelyard::registry
