#include "registry/commands/index.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/toml.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/remote_registry.hpp"
#include "registry/database/store.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

constexpr const char* indexes_address = "/api/v1/indexes";
constexpr std::string_view create_index = "createIndex";
constexpr std::string_view set_index = "setIndex";

// The list that is in force here, and who decided it.
base::Result<Json> list_here(const IndexArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_ASSIGN(const auto list, read_index_list(database::Store(config.database())));
    return indexes_json(config.index_tables, word_of(list ? list->decided_by : DecidedBy::file));
}

base::Result<Json> read_list(const IndexArguments& arguments) {
    if (arguments.url.empty()) return list_here(arguments);
    WHEELYARD_ASSIGN(auto remote, RemoteRegistry::open(arguments.url, arguments.token_file));
    WHEELYARD_ASSIGN(const std::string body, remote.get(indexes_address));
    return io::parse_json(body);
}

// "512 MiB, 100 files"; empty: no limit.
std::string quota_of(const Json& keys) {
    std::string text;
    if (const std::int64_t mib = keys.int_or("quota_mib", 0); mib > 0)
        text = base::render_bytes(static_cast<std::uint64_t>(mib) * base::mib);
    if (const std::int64_t files = keys.int_or("quota_files", 0); files > 0)
        text += (text.empty() ? "" : ", ") + std::to_string(files) + " files";
    return text;
}

std::string render_list(const Json& document) {
    std::vector<base::TableRow> rows{{"INDEX", "READ", "STATE", "SDISTS", "QUOTA", "TITLE"}};
    for (const Json& index : document.items("indexes")) {
        const Json* keys = index.find("keys");
        if (keys == nullptr) continue;
        rows.push_back({base::printable(index.string_or("name", "")),
                        base::printable(keys->string_or("read", "public")),
                        keys->bool_or("archived", false) ? "archived" : "active",
                        keys->bool_or("sdists", false) ? "yes" : "no", quota_of(*keys),
                        base::printable(keys->string_or("title", ""))});
    }
    return base::render_table(rows, base::terminal_columns(STDOUT_FILENO)) + "\ndecided by " +
           (document.string_or("decided_by", "") == "file"
                ? "the configuration file"
                : "commands; `apply` makes the file decide again") +
           "\n";
}

// All keys of the command line as one merge patch.
base::Result<Json> read_keys(const IndexArguments& arguments) {
    Json keys = Json::object();
    if (!arguments.from.empty()) {
        WHEELYARD_ASSIGN(const std::string text, base::read_file(arguments.from, max_config_bytes));
        WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, arguments.from));
        keys = document.json();
    }
    for (const std::string& text : arguments.keys) {
        WHEELYARD_ASSIGN(const Json patch, parse_key_value(text));
        keys = merge_patch(keys, patch);
    }
    for (const std::string& key : arguments.unset)
        keys.set(key, nullptr);
    return keys;
}

base::Status change(const IndexArguments& arguments, std::string_view operation, Json keys,
                    const OpenPublisher& open_publisher, const base::Clock& clock) {
    Json asked = Json::object({{"keys", std::move(keys)}, {"dry_run", arguments.dry_run}});
    if (operation == set_index) asked.set("index", arguments.index);
    if (!arguments.revision.empty()) asked.set("revision", arguments.revision);
    WHEELYARD_ASSIGN(const auto door, Door::open({.config = arguments.config,
                                                  .url = arguments.url,
                                                  .token_file = arguments.token_file,
                                                  .new_store = NewStore::created},
                                                 open_publisher, clock));
    WHEELYARD_ASSIGN(const std::string answer, door->ask(operation, asked));
    WHEELYARD_ASSIGN(const Json document, io::parse_json(answer));
    if (!arguments.json) print_changes(document);
    print_end(answer, *door, arguments.dry_run, arguments.json);
    return {};
}

}  // namespace

void add_index_list_options(CLI::App& command, IndexArguments& arguments) {
    add_target(command, arguments.config, arguments.url, arguments.token_file);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

void add_index_show_options(CLI::App& command, IndexArguments& arguments) {
    add_index_list_options(command, arguments);
    command.add_option("index", arguments.index, "The index (default: all)");
}

void add_index_archive_options(CLI::App& command, IndexArguments& arguments) {
    add_index_list_options(command, arguments);
    command.add_option("index", arguments.index, "The index")->required();
    command.add_flag("--dry-run", arguments.dry_run, "Only show the changes");
}

void add_index_create_options(CLI::App& command, IndexArguments& arguments) {
    add_index_archive_options(command, arguments);
    command.add_option(
        "keys", arguments.keys,
        "KEY=VALUE, the keys of [[index]] in registry.toml; the value as in TOML, or plain text");
    command.add_option("--from", arguments.from, "A TOML file with such keys, for tables: policy, upstream")
        ->check(CLI::ExistingFile);
}

void add_index_set_options(CLI::App& command, IndexArguments& arguments) {
    add_index_create_options(command, arguments);
    command.add_option("--unset", arguments.unset, "A key that gets its default; repeatable")
        ->allow_extra_args(false);
    command.add_option("--revision", arguments.revision,
                       "Change it only if this is still its revision, as `index show --json` has it");
}

base::Status run_index_list(const IndexArguments& arguments) {
    WHEELYARD_ASSIGN(const Json document, read_list(arguments));
    std::fputs((arguments.json ? document.render() + "\n" : render_list(document)).c_str(), stdout);
    return {};
}

base::Status run_index_show(const IndexArguments& arguments) {
    WHEELYARD_ASSIGN(const Json document, read_list(arguments));
    std::string text;
    for (const Json& index : document.items("indexes")) {
        if (!arguments.index.empty() && index.string_or("name", "") != arguments.index) continue;
        const Json* keys = index.find("keys");
        text += text.empty() ? "" : "\n";
        if (arguments.json)
            text = index.render() + "\n";
        else if (keys != nullptr && keys->as_object() != nullptr)
            text += render_table(*keys);
    }
    if (text.empty())
        return base::fail("index.unknown", "There is no index with this name", arguments.index,
                          "`wheelyard-registry index list` shows them");
    base::print_untrusted(stdout, text);
    return {};
}

base::Status run_index_create(const IndexArguments& arguments, const OpenPublisher& open_publisher,
                              const base::Clock& clock) {
    WHEELYARD_ASSIGN(const Json more, read_keys(arguments));
    Json keys = Json::object({{"name", arguments.index}});
    for (const auto& [key, value] : *more.as_object())
        keys.set(key, value);
    return change(arguments, create_index, std::move(keys), open_publisher, clock);
}

base::Status run_index_set(const IndexArguments& arguments, const OpenPublisher& open_publisher,
                           const base::Clock& clock) {
    WHEELYARD_ASSIGN(Json keys, read_keys(arguments));
    return change(arguments, set_index, std::move(keys), open_publisher, clock);
}

base::Status run_index_archive(const IndexArguments& arguments, const OpenPublisher& open_publisher,
                               const base::Clock& clock) {
    return change(arguments, set_index, Json::object({{"archived", true}}), open_publisher, clock);
}

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

void print_changes(const Json& answer) {
    for (const Json& change : answer.items("changes"))
        base::print_untrusted(stdout,
                              change.string_or("index", "") + ": " + change.string_or("change", "") + "\n");
    if (answer.items("changes").empty()) std::printf("no index changes\n");
}

void print_end(const std::string& answer, const Door& door, bool dry_run, bool json) {
    if (json)
        base::print_untrusted(stdout, answer + "\n");
    else if (!dry_run)
        std::printf(door.is_served() ? "applied\n"
                                     : "no server runs with this store; its next start shows this\n");
}

namespace {

constexpr std::string_view of_indexes =
    "With -c it works on the running server of this machine, or on the store if none runs; run it as "
    "the server's user or as root. With --url the token needs the action `index` for all indexes.\n"
    "Exit status: 0 success, also if nothing had to change; 1 failure (see standard error); 2 wrong usage.\n";

}  // namespace

std::vector<Command> index_commands() {
    return {
        {"index", "list", "List the indexes that are in force", "-c registry.toml",
         setup(add_index_list_options, run_index_list), of_indexes},
        {"index", "show", "Print indexes as [[index]] tables for registry.toml", "main -c registry.toml",
         setup(add_index_show_options, run_index_show), of_indexes},
        {"index", "create", "Create an index",
         "archer2 title='Wheels for ARCHER2' quota_mib=512000 -c registry.toml",
         setup(add_index_create_options, run_index_create), of_indexes},
        {"index", "set", "Change keys of an index",
         "archer2 sdists=true 'owns=[\"torch\"]' policy.preset=mirror -c registry.toml",
         setup(add_index_set_options, run_index_set), of_indexes},
        {"index", "archive",
         "Keep an index and its files, and take no new ones; `index set NAME archived=false` ends that",
         "archer2 -c registry.toml", setup(add_index_archive_options, run_index_archive), of_indexes},
    };
}

}  // namespace wheelyard::registry
