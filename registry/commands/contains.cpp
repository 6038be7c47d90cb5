#include "registry/commands/contains.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/each_file.hpp"
#include "registry/config/config.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

struct Search {
    io::Json found = io::Json::array();
    io::Json not_known =
        io::Json::array();  // wheels with more components than are kept, and none that is meant
};

// The components of a wheel that are meant, with the wheel.
void search_in(const catalog::FileRow& row, const ContainsArguments& arguments, Search& search) {
    if (row.facts_json.find("\"sbom\"") == std::string::npos) return;
    const auto facts = io::parse_json(row.facts_json);
    if (!facts) return;
    bool is_found = false;
    for (const io::Json& one : facts->items("sbom")) {
        const std::string version = one.string_or("version", {});
        if (!base::matches_glob(base::ascii_lower(arguments.name),
                                base::ascii_lower(one.string_or("name", {}))) ||
            (!arguments.version.empty() && !is_component_version(version, arguments.version)) ||
            !base::matches_glob(base::ascii_lower(arguments.license),
                                base::ascii_lower(one.string_or("license", {}))))
            continue;
        io::Json wheel = found_file_json(row);
        wheel.set("component", one);
        search.found.push(std::move(wheel));
        is_found = true;
    }
    if (!is_found && facts->int_or("sbom_left_out", 0) > 0) search.not_known.push(found_file_json(row));
}

void print_found(const Search& search) {
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

bool is_component_version(std::string_view version, std::string_view wanted) {
    if (version == wanted) return true;
    const std::size_t colon = version.find(':');
    if (colon != std::string_view::npos &&
        std::all_of(version.begin(), version.begin() + static_cast<std::ptrdiff_t>(colon),
                    base::is_ascii_digit))
        version.remove_prefix(colon + 1);
    if (!version.starts_with(wanted)) return false;
    version.remove_prefix(wanted.size());
    if (version.empty() || version.front() == '-' || version.front() == '+' || version.front() == '~')
        return true;
    return version.size() > 1 && version.front() == '.' && base::is_ascii_alpha(version[1]);
}

void add_contains_options(CLI::App& command, ContainsArguments& arguments) {
    command.add_option("name", arguments.name, "The component, in any case; * and ? stand for others")
        ->required();
    command.add_option("version", arguments.version,
                       "Its version; a distribution's epoch and revision do not count (default: every one)");
    command.add_option("--license", arguments.license,
                       "Only under such a licence, in any case; * and ? stand for others: '*GPL*'");
    command.add_option("--index", arguments.index, "Only wheels of this index (default: of all)");
    command.add_option("-c,--config", arguments.config, "Path of registry.toml")->required();
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

base::Status run_contains(const ContainsArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    Search search;
    WHEELYARD_TRY(for_each_file(config, arguments.index, [&](const catalog::FileRow& row) {
        search_in(row, arguments, search);
        return base::Status();
    }));
    if (arguments.json)
        std::printf("%s\n", io::Json::object({{"format", "wheelyard.contains/1"},
                                              {"found", std::move(search.found)},
                                              {"not_known", std::move(search.not_known)}})
                                .render()
                                .c_str());
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
