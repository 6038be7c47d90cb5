#include "registry/commands/command.hpp"

#include <doctest/doctest.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

using namespace wheelyard;

namespace {

struct NameArguments {
    std::string name;
};

void add_name_option(CLI::App& command, NameArguments& arguments) {
    command.add_option("--name", arguments.name, "whom to greet");
}

base::Status greet(const NameArguments& arguments, const base::Clock& clock) {
    static_cast<void>(clock.now());
    if (arguments.name.empty()) return base::fail("greet.nobody", "There is nobody to greet");
    return {};
}

int count(const NameArguments& arguments) {
    return static_cast<int>(arguments.name.size());
}

constexpr registry::CommandGroup groups[] = {
    {"Commands that speak", "say", "says something", "hello --name ann"}};

struct CommandLine {
    base::SystemClock clock;
    CLI::App app{"a program", "program"};
    std::vector<registry::AddedCommand> added;

    CommandLine() {
        const std::vector<registry::Command> rows{
            {"Others", "count", "counts letters", "--name ann", registry::setup(add_name_option, count),
             "Always.\n"},
            {"say", "hello", "greets", "--name ann", registry::setup(add_name_option, greet)},
        };
        added = registry::add_commands(app, groups, rows);
    }
    base::Result<int> run(std::vector<std::string> words) {
        std::reverse(words.begin(), words.end());
        app.parse(words);
        return registry::run_parsed(added, {.open_publisher = {}, .clock = clock});
    }
};

}  // namespace

TEST_CASE("a command runs with the options that were parsed for it") {
    CHECK(CommandLine().run({"count", "--name", "ann"}).value() == 3);
    CHECK(CommandLine().run({"say", "hello", "--name", "ann"}).value() == 0);
    CHECK(CommandLine().run({"say", "hello"}).error().code == "greet.nobody");
}

TEST_CASE("the help of a command ends with its example and the end of its row") {
    const CommandLine line;
    CHECK(line.added[0].app->get_footer() ==
          "\nExample:\n  wheelyard-registry count --name ann\n\nAlways.\n");
    CHECK(line.added[1].app->get_footer() ==
          "\nExample:\n  wheelyard-registry say hello --name ann\n\n" + std::string(registry::exit_statuses));
}

TEST_CASE("each command is listed below its heading") {
    const std::string help = CommandLine().app.help();
    CHECK(help.find("Commands that speak:\n  say ") != std::string::npos);
    CHECK(help.find("Others:\n  count ") != std::string::npos);
    CHECK(CommandLine().app.get_subcommand("say")->help().find("Subcommands:\n  hello ") !=
          std::string::npos);
}

TEST_CASE("a group of commands needs one of them") {
    CommandLine line;
    CHECK_THROWS_AS(line.app.parse(std::vector<std::string>{"say"}), CLI::RequiredError);
}
