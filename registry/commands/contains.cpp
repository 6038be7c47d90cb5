#include "registry/commands/contains.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <utility>
#include <vector>

#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "registry/api/contains.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/each_file.hpp"
#include "registry/config/config.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

void print_found(const ComponentsFound& search) {
    std::vector<base::TableRow> rows{{"INDEX", "FILE", "COMPONENT", "VERSION", "LICENCE", "PURL"}};
    for (const io::Json& one : search.found.items()) {
        const io::Json& component = *one.find("component");
        rows.push_back({one.string_or("index", {}), one.string_or("filename", {}),
                        base::printable(component.string_or("name", {})),
                        base::printable(component.string_or("version", {})),
                        base::printable(component.string_or("license", {})),
                        base::printable(component.string_or("purl", {}))});
    }
    if (rows.size() == 1)
        std::printf("no wheel: none whose SBOM names it\n");
    else
        std::printf("%s", base::render_table(rows, base::terminal_columns(STDOUT_FILENO)).c_str());
    for (const io::Json& one : search.not_known.items())
        std::printf("not known of %s: %s has more components than are kept; its own SBOM lists them\n",
                    one.string_or("index", {}).c_str(), one.string_or("filename", {}).c_str());
}

}  // namespace

void add_contains_options(CLI::App& command, ContainsArguments& arguments) {
    command.add_option("name", arguments.name, "The component, in any case; * and ? stand for others")
        ->required();
    command.add_option("version", arguments.version,
                       "Its version; a distribution's epoch and revision do not count (default: every one)");
    command.add_option("--license", arguments.license,
                       "Only under such a licence, in any case; * and ? stand for others: '*GPL*'");
    command.add_option("--index", arguments.index, "Only wheels of this index (default: of all)");
    add_config_option(command, arguments.config);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

base::Status run_contains(const ContainsArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    const ComponentQuery query{arguments.name, arguments.version, arguments.license};
    ComponentsFound search;
    WHEELYARD_TRY(for_each_file(config, arguments.index, [&](const catalog::FileRow& row) {
        search.look_in(row, query);
        return base::Status();
    }));
    if (arguments.json)
        std::printf("%s\n", std::move(search).document().render().c_str());
    else
        print_found(search);
    return {};
}

std::vector<Command> contains_commands() {
    return {
        {"", "contains", "Which wheels contain a component, as their SBOMs state",
         "zlib 1.2.11 -c registry.toml\n  wheelyard-registry contains '*' --license '*GPL*' -c registry.toml",
         setup(add_contains_options, run_contains),
         "An SBOM is a statement of the wheel's author (PEP 770); a wheel without one is not found. If "
         "a\n"
         "wheel has very many components, only the first are kept: `not known` unless one of these is "
         "meant.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
    };
}

}  // namespace wheelyard::registry
