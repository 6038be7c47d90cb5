// What a program prints when its command line asks for help, or is wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::base {

// "There is no command `sevre`; did you mean `serve`?" with a line feed; empty: every word is a command or an
// option. App is CLI11's: a template, so that this header needs no third-party one.
template <typename App>
[[nodiscard]] std::string likely_command(const App& app, int argc, const char* const* argv) {
    const App* parent = &app;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        std::vector<std::string> names;
        const App* chosen = nullptr;
        for (const auto* command : parent->get_subcommands({})) {
            names.push_back(command->get_name());
            if (command->get_name() == word) chosen = command;
        }
        // An option may take the next word, so nothing behind one is known to be a command.
        if (names.empty() || word.empty() || word.front() == '-') return {};
        if (chosen == nullptr) {
            const auto likely = nearest(word, names);
            return "There is no command `" + word + "`" +
                   (likely ? "; did you mean `" + *likely + "`?"
                           : ". The commands are " + join(names, ", ")) +
                   "\n";
        }
        parent = chosen;
    }
    return {};
}

// "There is no option `--confg`; did you mean `--config`?" with a line feed; empty: none is like a known one.
template <typename App>
[[nodiscard]] std::string likely_option(const App& app, int argc, const char* const* argv) {
    const App* command = &app;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--") break;
        if (!word.starts_with("--")) {
            for (const auto* inner : command->get_subcommands({})) {
                if (inner->get_name() == word) command = inner;
            }
            continue;
        }
        const std::string name = word.substr(2, word.find('=') - 2);
        std::vector<std::string> names;
        for (const auto* option : command->get_options({})) {
            const auto& own = option->get_lnames();
            names.insert(names.end(), own.begin(), own.end());
        }
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        const auto likely = nearest(name, names);
        if (likely) return "There is no option `--" + name + "`; did you mean `--" + *likely + "`?\n";
    }
    return {};
}

// The first of the two that knows more than CLI11's own message.
template <typename App>
[[nodiscard]] std::string likely_word(const App& app, int argc, const char* const* argv) {
    const std::string command = likely_command(app, argc, argv);
    return command.empty() ? likely_option(app, argc, argv) : command;
}

inline constexpr std::size_t help_columns = 100;

// Breaks the lines that are longer: a description continues in its column, a paragraph at the left, and an
// example behind a backslash, so that it can still be pasted; what an example shows goes below it.
[[nodiscard]] std::string wrap_help(std::string_view help, std::size_t columns = help_columns);

// Prints the help or the version that was asked for, or what is wrong and which command explains it. Returns
// the exit status: 0, or 2 for wrong usage. App and Error are CLI11's: a template, so that this header needs
// no third-party one.
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
