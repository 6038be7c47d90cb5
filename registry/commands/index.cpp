// `wheelyard-registry index list` and `index show`: the indexes that are in force.
#include <unistd.h>

#include <cstdio>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/operation_command.hpp"
#include "registry/config/index_tables.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

// "512 MiB, 100 files"; empty: no limit.
std::string quota_of(const Json& keys) {
    std::string text;
    if (const std::int64_t mib = keys.int_or("quota_mib", 0); mib > 0)
        text = base::render_bytes(static_cast<std::uint64_t>(mib) * base::mib);
    if (const std::int64_t files = keys.int_or("quota_files", 0); files > 0)
        text += (text.empty() ? "" : ", ") + std::to_string(files) + " files";
    return text;
}

void print_list_of_indexes(const Json& document) {
    std::vector<base::TableRow> rows{{"INDEX", "READ", "STATE", "SDISTS", "QUOTA", "TITLE"}};
    for (const Json& index : document.items("indexes")) {
        const Json* keys = index.find("keys");
        if (keys == nullptr) continue;
        rows.push_back({index.string_or("name", ""), keys->string_or("read", "public"),
                        keys->bool_or("archived", false) ? "archived" : "active",
                        keys->bool_or("sdists", false) ? "yes" : "no", quota_of(*keys),
                        keys->string_or("title", "")});
    }
    base::print(stdout, base::render_table(rows, base::terminal_columns(STDOUT_FILENO)));
}

// Of one index, or of all.
void print_index_tables(const Json& document) {
    const io::Json::Array one{document};
    std::string text;
    for (const Json& index : document.find("keys") != nullptr ? one : document.items("indexes")) {
        const Json* keys = index.find("keys");
        if (keys == nullptr || keys->as_object() == nullptr) continue;
        text += (text.empty() ? "" : "\n") + render_table(*keys);
    }
    base::print(stdout, text);
}

base::Status print_shown_index(Door& door, Asked& asked) {
    if (asked.arguments.find("index") == nullptr) asked.operation = "describeIndexes";
    return print_answer<print_index_tables>(door, asked);
}

constexpr std::string_view of_indexes =
    "With -c it works on the running server of this machine, or on the store if none runs; run it as "
    "the server's user or as root. With --url the token needs the action `index` for all indexes.\n"
    "Exit status: 0 success; 1 failure (see standard error); 2 wrong usage or configuration.\n";

}  // namespace

std::vector<Command> index_commands() {
    return {
        of_operation(
            {"index", "list", "List the indexes that are in force", "-c registry.toml", {}, of_indexes},
            "describeIndexes", {}, print_answer<print_list_of_indexes>, one_document, on_new_store),
        of_operation({"index",
                      "show",
                      "Print indexes as [[index]] tables for registry.toml",
                      "main -c registry.toml",
                      {},
                      of_indexes},
                     "describeIndex",
                     {{.name = "index", .help = "The index (default: all)", .may_lack = true}},
                     print_shown_index, one_document, on_new_store),
    };
}

}  // namespace wheelyard::registry
