#include "registry/commands/index.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/toml.hpp"
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
    base::print(stdout, "%s\ndecided by %s\n",
                base::render_table(rows, base::terminal_columns(STDOUT_FILENO)).c_str(),
                document.string_or("decided_by", "") == "file"
                    ? "the configuration file"
                    : "commands; `apply` makes the file decide again");
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

}  // namespace

void print_changes(const Json& changed) {
    for (const Json& change : changed.items("changes"))
        base::print(stdout, base::printable_line(change.string_or("index", "") + ": " +
                                                 change.string_or("change", "")) +
                                "\n");
    if (changed.items("changes").empty()) base::print(stdout, "no index changes\n");
}

void print_end(const Json& changed, const Door& door) {
    if (changed.bool_or("dry_run", false)) return;
    base::print(stdout, door.is_served() ? "applied\n"
                                         : "no server runs with this store; its next start shows this\n");
}

namespace {

base::Status print_changed_index(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const Json changed, ask_document(door, asked));
    if (asked.json) {
        base::print(stdout, changed.render() + "\n");
        return {};
    }
    print_changes(changed);
    print_end(changed, door);
    return {};
}

// All keys of the command line as one merge patch.
base::Result<Json> read_keys(const Json& options) {
    Json keys = Json::object();
    if (const Json* name = options.find("name"); name != nullptr) keys.set("name", *name);
    if (const std::string from = options.string_or("from", ""); !from.empty()) {
        WHEELYARD_ASSIGN(const std::string text, base::read_file(from, max_config_bytes));
        WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, from));
        keys = merge_patch(keys, document.json());
    }
    for (const std::string& text : options.texts("keys")) {
        WHEELYARD_ASSIGN(const Json patch, parse_key_value(text));
        keys = merge_patch(keys, patch);
    }
    for (const std::string& key : options.texts("unset"))
        keys.set(key, nullptr);
    return keys;
}

void add_key_options(CLI::App& command, Asked& asked) {
    const auto set = [&asked](const std::string& name) {
        return [&asked, name](const std::vector<std::string>& texts) {
            asked.own.set(name, Json::array_of(texts));
        };
    };
    on_new_store(command, asked);
    if (asked.operation == "createIndex")
        command
            .add_option_function<std::string>(
                "index", [&asked](const std::string& name) { asked.own.set("name", name); }, "The index")
            ->required();
    command.add_option_function<std::vector<std::string>>(
        "keys", set("keys"),
        "KEY=VALUE, the keys of [[index]] in registry.toml; the value as in TOML, or plain text");
    command
        .add_option_function<std::string>(
            "--from", [&asked](const std::string& file) { asked.own.set("from", file); },
            "A TOML file with such keys, for tables: policy, upstream")
        ->check(base::fault_of_file, "FILE");
    if (asked.operation == "setIndex")
        command
            .add_option_function<std::vector<std::string>>("--unset", set("unset"),
                                                           "A key that gets its default; repeatable")
            ->allow_extra_args(false);
    asked.readers.emplace_back([&asked]() -> base::Status {
        WHEELYARD_ASSIGN(Json keys, read_keys(asked.own));
        asked.arguments.set("keys", std::move(keys));
        return {};
    });
}

void archive(CLI::App&, Asked& asked) {
    asked.arguments.set("keys", Json::object({{"archived", true}}));
}

}  // namespace

base::Result<Json> parse_key_value(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return base::fail("index.key_value", "This is not KEY=VALUE", text, "for example quota_mib=512000");
    const std::string key = text.substr(0, equals);
    const std::string value = text.substr(equals + 1);
    auto as_toml = io::TomlDocument::parse(key + " = " + value, "KEY=VALUE");
    if (!as_toml) as_toml = io::TomlDocument::parse(key + " = " + Json(value).render(), "KEY=VALUE");
    if (!as_toml)
        return base::fail("index.key_value", "This is not KEY=VALUE", text,
                          "for example policy.preset=mirror or 'owns=[\"torch\"]'");
    return as_toml->json();
}

namespace {

constexpr std::string_view of_indexes =
    "With -c it works on the running server of this machine, or on the store if none runs; run it as "
    "the server's user or as root. With --url the token needs the action `index` for all indexes.\n"
    "Exit status: 0 success, also if nothing had to change; 1 failure (see standard error); 2 wrong usage or "
    "configuration.\n";

}  // namespace

std::vector<Command> index_commands() {
    const Option index{.name = "index"};
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
        of_operation({"index",
                      "create",
                      "Create an index",
                      "archer2 title='Wheels for ARCHER2' quota_mib=512000 -c registry.toml",
                      {},
                      of_indexes},
                     "createIndex", {{"--dry-run"}}, print_changed_index, one_document, add_key_options),
        of_operation({"index",
                      "set",
                      "Change keys of an index",
                      "archer2 sdists=true 'owns=[\"torch\"]' policy.preset=mirror -c registry.toml",
                      {},
                      of_indexes},
                     "setIndex", {index, {"--dry-run"}, {"--revision"}}, print_changed_index, one_document,
                     add_key_options),
        of_operation(
            {"index",
             "archive",
             "Keep an index and its files, and take no new ones; `index set NAME archived=false` ends that",
             "archer2 -c registry.toml",
             {},
             of_indexes},
            "setIndex", {index, {"--dry-run"}}, print_changed_index, one_document, archive),
    };
}

}  // namespace wheelyard::registry
