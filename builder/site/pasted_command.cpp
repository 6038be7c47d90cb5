#include "builder/site/pasted_command.hpp"

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view program = "wheelyard-builder ";

}  // namespace

std::string pasted_command(const std::string& command, const std::string& name, const Site& site) {
    return std::string(program) + command + (name.empty() ? "" : " " + base::quote_shell(name)) +
           (site.file.empty() ? "" : " --site " + base::quote_shell(site.file.string()));
}

std::string complete_commands(const std::string& advice, const std::string& cell, const std::string& attempt,
                              const Site& site) {
    const std::string with_cell =
        base::replace_all(advice, std::string(program) + "retry", pasted_command("retry", cell, site));
    return base::replace_all(with_cell, std::string(program) + "logs", pasted_command("logs", attempt, site));
}

}  // namespace wheelyard::builder
