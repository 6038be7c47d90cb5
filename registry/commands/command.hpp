// A command of `wheelyard-registry`: one row of the table in main.cpp, and how rows become a command line.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/store/opened_store.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

// What a command may use beside its options.
struct Services {
    OpenPublisher open_publisher;
    base::Clock& clock;
};

using Run = std::function<base::Result<int>(const Services&)>;  // gives the exit status
using Setup = std::function<Run(CLI::App&)>;                    // adds the options that the Run reads

inline constexpr std::string_view exit_statuses =
    "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n";

// The statuses of the commands that look after the store.
inline constexpr std::string_view of_maintenance =
    "Exit status: 0 success, 1 problems found or failure (see standard error), 2 wrong usage or "
    "configuration.\n";

// What --help lists commands and groups below.
namespace heading {
inline constexpr std::string_view server = "Commands of the server";
inline constexpr std::string_view indexes = "Commands for indexes";
inline constexpr std::string_view adding = "Commands to add wheels";
inline constexpr std::string_view withdrawing = "Commands to withdraw and protect files";
inline constexpr std::string_view reasons = "Commands that say why";
inline constexpr std::string_view store = "Commands to look after the store";
}  // namespace heading

struct Command {
    std::string_view below;  // its heading, or its group: "token" of `token create`
    std::string_view name;
    std::string_view summary;
    std::string_view example;  // after the name
    Setup setup;
    std::string_view help_end = exit_statuses;  // what its help ends with, after the example
};
struct CommandGroup {
    std::string_view heading;
    std::string_view name;
    std::string_view summary;
    std::string_view example;  // empty: that of the program
};
struct AddedCommand {
    const CLI::App* app;
    Run run;
};

// In the order of the table, which is that of --help: of the headings, too.
[[nodiscard]] std::vector<AddedCommand> add_commands(CLI::App& app, std::span<const CommandGroup> groups,
                                                     std::span<const Command> commands);
// The command that was parsed, which must be one of them.
[[nodiscard]] base::Result<int> run_parsed(std::span<const AddedCommand> commands, const Services& services);

// `run` takes the arguments, and then the clock or both services; it gives a Status, an exit status, or a
// Result of one.
template <typename Arguments, typename RunFunction>
base::Result<int> run_with(const RunFunction& run, const Arguments& arguments, const Services& services) {
    const auto ended = [&] {
        if constexpr (std::is_invocable_v<RunFunction, const Arguments&>)
            return run(arguments);
        else if constexpr (std::is_invocable_v<RunFunction, const Arguments&, base::Clock&>)
            return run(arguments, services.clock);
        else
            return run(arguments, services.open_publisher, services.clock);
    }();
    if constexpr (std::is_convertible_v<decltype(ended), base::Result<int>>)
        return ended;
    else if (!ended)
        return base::fail(ended.error());
    else
        return 0;
}

// The options of a command with the function that runs it. Each command has its own Arguments.
template <typename Arguments, typename OptionsFunction, typename RunFunction>
Setup with_options(OptionsFunction options, RunFunction run) {
    return [options, run](CLI::App& command) -> Run {
        const auto arguments = std::make_shared<Arguments>();
        options(command, *arguments);
        return [arguments, run](const Services& services) { return run_with(run, *arguments, services); };
    };
}
template <typename Arguments, typename RunFunction>
Setup setup(void (*options)(CLI::App&, Arguments&), RunFunction run) {
    return with_options<Arguments>(options, std::move(run));
}

}  // namespace wheelyard::registry
