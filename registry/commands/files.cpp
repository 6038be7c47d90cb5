// `wheelyard-registry files|storage`.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "registry/access/person.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/operation_command.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t day_length = 10;  // of "2026-11-20"

base::TableRow row_of(const io::Json& file, const ShownNames& names) {
    std::string state = file.string_or("state", "");
    if (file.bool_or("yanked", false)) state += ", yanked";
    if (file.bool_or("pinned", false)) state += ", pinned";
    std::string why = file.string_or("state_reason", "");
    if (why.empty()) why = file.string_or("yanked_reason", "");
    return {file.string_or("filename", ""),
            base::render_bytes(static_cast<std::uint64_t>(file.int_or("size_bytes", 0))),
            state,
            file.string_or("uploaded", "").substr(0, 10),
            with_shown_name(file.string_or("uploaded_by", ""), names),
            why};
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
    std::vector<std::string> parts;
    for (const std::int64_t days : {30, 365}) {
        const std::string since = base::render_rfc3339(now - days * base::day_us).substr(0, day_length);
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
    std::string text = storage.string_or("index", "") + ": " + sum_of(storage);
    if (storage.int_or("quota_bytes", 0) > 0) text += " of " + bytes_of(storage, "quota_bytes");
    if (storage.int_or("quota_files", 0) > 0)
        text += ", at most " + std::to_string(storage.int_or("quota_files", 0)) + " files";
    for (const auto& [part, title] :
         {std::pair("quarantined", "in quarantine "), std::pair("fetched", "fetched from upstreams ")}) {
        const io::Json* sum = storage.find(part);
        if (sum != nullptr && sum->int_or("files", 0) > 0) text += std::string("; ") + title + sum_of(*sum);
    }
    text += "; the disk has " + bytes_of(storage, "free_bytes") + " left\n";
    if (storage.find("growth") != nullptr) text += "of it came: " + growth_of(storage, now) + "\n";
    text = base::wrap_lines(text, columns);
    for (const auto& [list, name, title] :
         {std::tuple("projects", "project", "PROJECT"), std::tuple("uploaders", "name", "UPLOADER")}) {
        std::vector<base::TableRow> rows{{title, "FILES", "SIZE"}};
        for (const io::Json& one : storage.items(list))
            rows.push_back(
                {one.string_or(name, ""), std::to_string(one.int_or("files", 0)), bytes_of(one, "bytes")});
        if (rows.size() > 1) text += "\n" + base::render_table(rows, columns);
    }
    return text;
}

void print_storage(const io::Json& storage) {
    base::print(stdout,
                render_storage(storage, base::SystemClock().now(), base::terminal_columns(STDOUT_FILENO)));
}

base::Status print_files(Door& door, Asked& asked) {
    const ShownNames names = asked.json ? ShownNames() : door.shown_names();
    std::vector<base::TableRow> rows{{"FILE", "SIZE", "STATE", "UPLOADED", "UPLOADER", "WHY"}};
    std::uint64_t bytes = 0;
    WHEELYARD_TRY(for_each_piece(door, asked, [&](const io::Json& piece) {
        if (asked.json) base::print(stdout, "%s\n", piece.render().c_str());
        for (const io::Json& file : piece.items("files")) {
            bytes += static_cast<std::uint64_t>(file.int_or("size_bytes", 0));
            rows.push_back(row_of(file, names));
        }
    }));
    if (asked.json) return {};
    const std::size_t count = rows.size() - 1;
    if (count > 0) base::print(stdout, base::render_table(rows, base::terminal_columns(STDOUT_FILENO)));
    base::print(stdout, "%zu %s, %s\n", count, count == 1 ? "file" : "files",
                base::render_bytes(bytes).c_str());
    return {};
}

constexpr std::string_view of_files =
    "With --url the token needs an action that changes files, such as `quarantine`, for all projects.\n"
    "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage or configuration.\n";

}  // namespace

std::vector<Command> files_commands() {
    return {
        of_operation(
            {heading::indexes,
             "files",
             "List the files of an index: size, state, uploader, why in quarantine",
             "main --quarantined -c registry.toml",
             {},
             of_files},
            "listIndexFiles",
            {{"index"}, {"--quarantined", "state", "Only files in quarantine", "quarantined"}, {"--name"}},
            print_files, "one JSON document a line, of up to 1,000 files each"),
        of_operation({heading::indexes,
                      "storage",
                      "Show what an index keeps: size, quota, largest projects",
                      "main -c registry.toml",
                      {},
                      of_files},
                     "describeStorage", {{"index"}}, print_answer<print_storage>),
    };
}

}  // namespace wheelyard::registry
