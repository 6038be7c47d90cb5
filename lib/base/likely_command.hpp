// Suggests the subcommand that a misspelt one probably means.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/text.hpp"

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

}  // namespace wheelyard::base
