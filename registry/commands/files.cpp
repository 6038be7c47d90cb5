// The list comes in pieces (file_list.hpp), from the data folder or from the server.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "registry/access/person.hpp"
#include "registry/api/file_list.hpp"
#include "registry/api/storage.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/remote_registry.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {
namespace {

struct FilesArguments {
    std::string index;
    bool is_quarantined = false;
    bool json = false;
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
};

constexpr std::size_t day_length = 10;  // of "2026-11-20"

struct Asked {
    // The document after the file `after`.
    std::function<base::Result<std::string>(const std::string& after)> files;
    ShownNames names;
};

base::Result<RegistryConfig> config_with_index(const FilesArguments& arguments) {
    WHEELYARD_ASSIGN(RegistryConfig config, read_config_in_force(arguments.config));
    if (!has_files_of(config, arguments.index))
        return base::fail("index.unknown", "There is no index with this name", arguments.index,
                          "configured: " + base::join(config.index_names(), ", "));
    return config;
}

base::Result<Asked> ask_here(const FilesArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, config_with_index(arguments));
    WHEELYARD_ASSIGN(auto opened, database::Store(config.database()).reader());
    const auto state =
        arguments.is_quarantined ? std::optional(catalog::FileState::quarantined) : std::nullopt;
    WHEELYARD_ASSIGN(const auto tokens, opened->tokens());
    return Asked{[catalog = std::shared_ptr<const catalog::Catalog>(std::move(opened)),
                  index = arguments.index, state](const std::string& after) {
                     return list_files(*catalog, FileQuery{index, state, after});
                 },
                 shown_names(tokens)};
}

base::Result<Asked> ask_there(const FilesArguments& arguments) {
    WHEELYARD_ASSIGN(auto opened, RemoteRegistry::open(arguments.url, arguments.token_file));
    const std::string address = "/api/v1/indexes/" + base::encode_percent(arguments.index) +
                                (arguments.is_quarantined ? "/files?state=quarantined&" : "/files?") +
                                "after=";
    ShownNames names = opened.shown_names();
    return Asked{
        [registry = std::make_shared<RemoteRegistry>(std::move(opened)), address](const std::string& after) {
            return registry->get(address + base::encode_percent(after));
        },
        std::move(names)};
}

base::TableRow row_of(const io::Json& file, const ShownNames& names) {
    std::string state = file.string_or("state", "");
    if (file.bool_or("yanked", false)) state += ", yanked";
    if (file.bool_or("pinned", false)) state += ", pinned";
    std::string why = file.string_or("state_reason", "");
    if (why.empty()) why = file.string_or("yanked_reason", "");
    return {base::printable(file.string_or("filename", "")),
            base::render_bytes(static_cast<std::uint64_t>(file.int_or("size_bytes", 0))),
            base::printable(state),
            base::printable(file.string_or("uploaded", "").substr(0, 10)),
            base::printable(with_shown_name(file.string_or("uploaded_by", ""), names)),
            base::printable(why)};
}

base::Result<std::string> storage_of(const FilesArguments& arguments) {
    if (!arguments.url.empty()) {
        WHEELYARD_ASSIGN(auto registry, RemoteRegistry::open(arguments.url, arguments.token_file));
        return registry.get("/api/v1/indexes/" + base::encode_percent(arguments.index) + "/storage");
    }
    WHEELYARD_ASSIGN(const RegistryConfig config, config_with_index(arguments));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    return describe_storage(config, *catalog, arguments.index, base::SystemClock().now());
}

std::string bytes_of(const io::Json& object, std::string_view key) {
    return base::render_bytes(static_cast<std::uint64_t>(object.int_or(key, 0)));
}

// "3 files, 1.0 MiB"
std::string sum_of(const io::Json& object) {
    const std::int64_t files = object.int_or("files", 0);
    return std::to_string(files) + (files == 1 ? " file, " : " files, ") + bytes_of(object, "bytes");
}

// "in 30 days 3 files, 1.0 MiB; in 365 days …": of what is kept.
std::string growth_of(const io::Json& storage, base::UnixMicros now) {
    constexpr base::UnixMicros day_us = 86'400'000'000;
    std::vector<std::string> parts;
    for (const std::int64_t days : {30, 365}) {
        const std::string since = base::render_rfc3339(now - days * day_us).substr(0, day_length);
        std::int64_t files = 0;
        std::int64_t bytes = 0;
        for (const io::Json& one : storage.items("growth")) {
            if (one.string_or("day", "") < since) continue;
            files += one.int_or("files", 0);
            bytes += one.int_or("bytes", 0);
        }
        parts.push_back(sum_of(io::Json::object({{"files", files}, {"bytes", bytes}})) + " in " +
                        std::to_string(days) + " days");
    }
    return base::join(parts, "; ");
}

std::string render_storage(const io::Json& storage, base::UnixMicros now, std::size_t columns) {
    std::string text = base::printable(storage.string_or("index", "")) + ": " + sum_of(storage);
    if (storage.int_or("quota_bytes", 0) > 0) text += " of " + bytes_of(storage, "quota_bytes");
    if (storage.int_or("quota_files", 0) > 0)
        text += ", at most " + std::to_string(storage.int_or("quota_files", 0)) + " files";
    const io::Json* quarantined = storage.find("quarantined");
    if (quarantined != nullptr && quarantined->int_or("files", 0) > 0)
        text += "; in quarantine " + sum_of(*quarantined);
    text += "; the disk has " + bytes_of(storage, "free_bytes") + " left\n";
    if (storage.find("growth") != nullptr) text += "of it came: " + growth_of(storage, now) + "\n";
    text = base::wrap_lines(text, columns);
    for (const auto& [list, name, title] :
         {std::tuple("projects", "project", "PROJECT"), std::tuple("uploaders", "name", "UPLOADER")}) {
        std::vector<base::TableRow> rows{{title, "FILES", "SIZE"}};
        for (const io::Json& one : storage.items(list))
            rows.push_back({base::printable(one.string_or(name, "")), std::to_string(one.int_or("files", 0)),
                            bytes_of(one, "bytes")});
        if (rows.size() > 1) text += "\n" + base::render_table(rows, columns);
    }
    return text;
}

void add_options(CLI::App& command, FilesArguments& arguments, const std::string& json) {
    command.add_option("index", arguments.index, "The index")->required();
    command.add_flag("--json", arguments.json, json);
    add_target(command, arguments.config, arguments.url, arguments.token_file);
}

// Both read a local data folder (`config`) or ask a remote registry (`url`, `token_file`), and print. Errors:
// "index.unknown", those of the configuration and the catalog, or of the remote registry.
void add_files_options(CLI::App& command, FilesArguments& arguments) {
    add_options(command, arguments, "one JSON document a line, of up to 1,000 files each");
    command.add_flag("--quarantined", arguments.is_quarantined, "Only files in quarantine");
}

void add_storage_options(CLI::App& command, FilesArguments& arguments) {
    add_options(command, arguments, "one JSON document");
}

base::Status run_storage(const FilesArguments& arguments) {
    WHEELYARD_ASSIGN(const std::string text, storage_of(arguments));
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(text));
    std::fputs((arguments.json ? text + "\n"
                               : render_storage(document, base::SystemClock().now(),
                                                base::terminal_columns(STDOUT_FILENO)))
                   .c_str(),
               stdout);
    return {};
}

base::Status run_files(const FilesArguments& arguments) {
    WHEELYARD_ASSIGN(const Asked ask, arguments.url.empty() ? ask_here(arguments) : ask_there(arguments));
    std::vector<base::TableRow> rows{{"FILE", "SIZE", "STATE", "UPLOADED", "UPLOADER", "WHY"}};
    std::uint64_t bytes = 0;
    std::string after;
    do {
        WHEELYARD_ASSIGN(const std::string text, ask.files(after));
        if (arguments.json) std::printf("%s\n", text.c_str());
        WHEELYARD_ASSIGN(const io::Json document, io::parse_json(text));
        for (const io::Json& file : document.items("files")) {
            bytes += static_cast<std::uint64_t>(file.int_or("size_bytes", 0));
            if (!arguments.json) rows.push_back(row_of(file, ask.names));
        }
        after = document.string_or("next", "");
    } while (!after.empty());
    if (arguments.json) return {};
    const std::size_t count = rows.size() - 1;
    if (count > 0) std::printf("%s", base::render_table(rows, base::terminal_columns(STDOUT_FILENO)).c_str());
    std::printf("%zu %s, %s\n", count, count == 1 ? "file" : "files", base::render_bytes(bytes).c_str());
    return {};
}

constexpr std::string_view of_files =
    "With --url the token needs an action that changes files, such as `quarantine`, for all projects.\n"
    "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n";

}  // namespace

std::vector<Command> files_commands() {
    return {
        {"", "files", "List the files of an index: size, state, uploader, why in quarantine",
         "main --quarantined -c registry.toml", setup(add_files_options, run_files), of_files},
        {"", "storage", "Show what an index keeps: size, quota, largest projects", "main -c registry.toml",
         setup(add_storage_options, run_storage), of_files},
    };
}

}  // namespace wheelyard::registry
