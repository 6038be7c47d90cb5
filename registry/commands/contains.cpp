// `wheelyard-registry contains NAME [VERSION]`: which wheels contain a component, as their SBOMs state.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text_table.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/operation_command.hpp"

namespace wheelyard::registry {
namespace {

void print_found(const io::Json& search) {
    std::vector<base::TableRow> rows{{"INDEX", "FILE", "COMPONENT", "VERSION", "LICENCE", "PURL"}};
    for (const io::Json& one : search.items("found")) {
        const io::Json& component = *one.find("component");
        rows.push_back({one.string_or("index", {}), one.string_or("filename", {}),
                        component.string_or("name", {}), component.string_or("version", {}),
                        component.string_or("license", {}), component.string_or("purl", {})});
    }
    if (rows.size() == 1)
        base::print(stdout, "no wheel: none whose SBOM names it\n");
    else
        base::print(stdout, "%s", base::render_table(rows, base::terminal_columns(STDOUT_FILENO)).c_str());
    for (const io::Json& one : search.items("not_known"))
        base::print(stdout,
                    "not known of %s: %s has more components than are kept; its own SBOM lists them\n",
                    one.string_or("index", {}).c_str(), one.string_or("filename", {}).c_str());
}

// `wanted`, or all; on the data folder each with the caches of its upstreams.
base::Result<std::vector<std::string>> indexes_to_search(Door& door, const Asked& asked) {
    const std::string wanted = asked.arguments.string_or("index", "");
    const bool is_local = asked.target.url.empty();
    if (!is_local && !wanted.empty()) return std::vector{wanted};
    WHEELYARD_ASSIGN(const std::string answer, door.ask("describeIndexes", io::Json::object()));
    WHEELYARD_ASSIGN(const io::Json list, io::parse_json(answer));
    std::vector<std::string> names;
    for (const io::Json& index : list.items("indexes")) {
        const std::string name = index.string_or("name", "");
        if (!wanted.empty() && name != wanted) continue;
        names.push_back(name);
        const io::Json* keys = is_local ? index.find("keys") : nullptr;
        if (keys == nullptr) continue;
        for (const io::Json& upstream : keys->items("upstream"))
            names.push_back(name + "." + upstream.string_or("name", ""));
    }
    if (names.empty() && !wanted.empty()) names.push_back(wanted);
    return names;
}

base::Status print_containing(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const auto names, indexes_to_search(door, asked));
    io::Json::Array found, not_known;
    const auto add = [&](const io::Json& piece) {
        for (const auto& [list, into] : {std::pair{"found", &found}, std::pair{"not_known", &not_known}})
            into->insert(into->end(), piece.items(list).begin(), piece.items(list).end());
    };
    for (const std::string& name : names) {
        asked.arguments.set("index", name);
        asked.arguments.set("after", "");
        WHEELYARD_TRY(for_each_piece(door, asked, add));
    }
    const io::Json all = io::Json::object({{"format", "wheelyard.contains/1"},
                                           {"found", std::move(found)},
                                           {"not_known", std::move(not_known)},
                                           {"next", io::Json()}});
    if (asked.json)
        base::print(stdout, "%s\n", all.render().c_str());
    else
        print_found(all);
    return {};
}

}  // namespace

std::vector<Command> contains_commands() {
    return {
        of_operation(
            {heading::reasons,
             "contains",
             "Which wheels contain a component, as their SBOMs state",
             "zlib 1.2.11 -c registry.toml\n  wheelyard-registry contains '*' --license '*GPL*' -c "
             "registry.toml",
             {},
             "An SBOM is a statement of the wheel's author (PEP 770); a wheel without one is not found. If "
             "a\n"
             "wheel has very many components, only the first are kept: `not known` unless one of these is "
             "meant.\n"
             "With --url and without --index the token needs the action `index` for all indexes.\n"
             "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n"},
            "findContaining",
            {{.name = "name", .argument = "component"},
             {"version"},
             {"--license"},
             {.name = "--index", .help = "Only wheels of this index (default: of all)", .may_lack = true}},
            print_containing),
    };
}

}  // namespace wheelyard::registry
