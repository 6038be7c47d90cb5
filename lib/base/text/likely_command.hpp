// Suggests the subcommand or the option that a misspelt one probably means.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {

// "There is no command `sevre`; did you mean `serve`?" with a line feed; empty: every word is a command or an option.
// App is CLI11's: a template, so that this header needs no third-party one.
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

}  // namespace wheelyard::base
