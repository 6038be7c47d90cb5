// Parses "--name value", "--name=value" and "--flag", up to "--" and a command.
#include "builder/governor/options.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/base/text/usage.hpp"

namespace wheelyard::governor {

std::string Options::get(const std::string& name, const std::string& otherwise) const {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
}

base::Result<Options> parse_options(const std::vector<std::string>& arguments,
                                    const std::vector<OptionRow>& table) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& argument = arguments[i];
        if (argument == "--") {
            options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
            return options;
        }
        if (!argument.starts_with("--")) {
            options.positional.push_back(argument);
            continue;
        }
        const auto equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const auto row = std::find_if(table.begin(), table.end(),
                                      [&](const OptionRow& each) { return name == each.name; });
        if (row == table.end()) {
            std::vector<std::string> names;
            for (const auto& each : table)
                names.emplace_back(each.name);
            const auto near = base::nearest(name, names);
            return base::fail("governor.option", "Unknown option", name,
                              near ? "did you mean " + *near + "?" : "see --help");
        }
        if (row->value == nullptr) {
            if (equals != std::string::npos) {
                return base::fail("governor.option", "This option takes no value", argument, "see --help");
            }
            options.values[name] = "yes";
        } else if (equals != std::string::npos) {
            options.values[name] = argument.substr(equals + 1);
        } else if (i + 1 < arguments.size() && arguments[i + 1] != "--") {
            options.values[name] = arguments[++i];
        } else {
            return base::fail("governor.option", "This option needs a value", name, row->value);
        }
    }
    return options;
}

std::string render_options(const std::vector<OptionRow>& table) {
    std::string text;
    for (const auto& row : table) {
        std::string left = "  " + std::string(row.name) + (row.value ? " " + std::string(row.value) : "");
        left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
        text += left + row.help + "\n";
    }
    return base::wrap_help(text);
}

}  // namespace wheelyard::governor
