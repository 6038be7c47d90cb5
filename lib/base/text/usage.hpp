// What a program prints when its command line asks for help, or is wrong.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/likely_command.hpp"

namespace wheelyard::base {

inline constexpr std::size_t help_columns = 100;

// Breaks the lines that are longer: a description continues in its column, a paragraph at the left, and an example
// behind a backslash, so that it can still be pasted; what an example shows goes below it.
[[nodiscard]] std::string wrap_help(std::string_view help, std::size_t columns = help_columns);

// Prints the help or the version that was asked for, or what is wrong and which command explains it. Returns the exit
// status: 0, or 2 for wrong usage. App and Error are CLI11's: a template, so that this header needs no third-party one.
template <typename App, typename Error>
[[nodiscard]] int end_parse(const App& app, const Error& error, int argc, const char* const* argv) {
    if (error.get_name() == "CallForHelp") {
        std::fputs(wrap_help(app.help(), help_columns_of(::fileno(stdout), help_columns)).c_str(), stdout);
        return 0;
    }
    if (error.get_exit_code() == 0) return app.exit(error);
    std::string command = app.get_name();
    for (const App* inner = &app; !inner->get_subcommands().empty();) {
        inner = inner->get_subcommands().front();
        command += " " + inner->get_name();
    }
    const std::string likely = likely_word(app, argc, argv);
    const std::string text = app.get_name() + ": " +
                             (likely.empty() ? error.what() + std::string("\n") : likely) + "Run `" +
                             command + " --help` for what it takes.\n";
    print_message(stderr, text);
    return 2;
}

}  // namespace wheelyard::base
