// `wheelyard-governor [options] -- CMD`: starts the broker, sets up the launchers, runs CMD and exits as CMD
// does.
//
// Three processes: this one waits for CMD and stays small; the broker is its child, and CMD continues if the
// broker dies; CMD is the build, unchanged except for its environment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::governor {

// Ends this process with CMD's exit code or signal.
[[noreturn]] void run_build(const std::vector<std::string>& arguments);

// The command `wheelyard-governor bound`.
[[nodiscard]] int run_bound(const std::vector<std::string>& arguments);

// The governor's command-line options, from a table. No parser library: the launcher, the same binary, starts
// thousands of times per build and must stay small.

// One option of a command.
struct OptionRow {
    const char* name;   // "--memory"
    const char* value;  // name of the value in the help; nullptr: a flag
    const char* help;
};

struct Options {
    std::map<std::string, std::string> values;  // flags have the value "yes"
    std::vector<std::string> positional;
    std::vector<std::string> command;  // after "--"

    [[nodiscard]] bool has(const std::string& name) const { return values.contains(name); }
    [[nodiscard]] std::string get(const std::string& name, const std::string& otherwise = {}) const;
};

// Fails on unknown options and missing or unexpected values.
[[nodiscard]] base::Result<Options> parse_options(const std::vector<std::string>& arguments,
                                                  const std::vector<OptionRow>& table);
[[nodiscard]] std::string render_options(const std::vector<OptionRow>& table);

}  // namespace wheelyard::governor
