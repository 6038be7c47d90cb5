// The governor's command-line options: a table of names, since a launcher that starts ten thousand times
// parses none and a parser library would be most of the program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::governor {

struct OptionRow {
    const char* name;   // "--memory"
    const char* value;  // what it takes, as shown in the help; nullptr: a flag
    const char* help;
};

struct Options {
    std::map<std::string, std::string> values;  // flags have the value "yes"
    std::vector<std::string> positional;
    std::vector<std::string> command;  // after "--"

    [[nodiscard]] bool has(const std::string& name) const { return values.contains(name); }
    [[nodiscard]] std::string get(const std::string& name, const std::string& otherwise = {}) const;
};

[[nodiscard]] base::Result<Options> parse_options(const std::vector<std::string>& arguments,
                                                  const std::vector<OptionRow>& table);
[[nodiscard]] std::string render_options(const std::vector<OptionRow>& table);

}  // namespace wheelyard::governor
