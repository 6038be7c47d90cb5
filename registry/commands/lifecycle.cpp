// The commands that change what is published, and the log of who did.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/utf8.hpp"
#include "registry/access/person.hpp"
#include "registry/access/tokens.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/operation_command.hpp"

namespace wheelyard::registry {
namespace {

void print_changed(const io::Json& done) {
    const std::string word = done.string_or("action", "");
    const bool is_dry = done.bool_or("dry_run", false);
    const auto& files = done.items("files");
    for (const io::Json& file : files)
        base::print_message(
            stdout, word + " " + file.string_or("index", "") + "/" + file.string_or("filename", "") + "\n");
    if (word == "gc")
        base::print(stdout, "%s %lld blobs, %s\n", is_dry ? "would remove" : "removed",
                    static_cast<long long>(done.int_or("blobs", 0)),
                    base::render_bytes(static_cast<std::uint64_t>(done.int_or("bytes", 0))).c_str());
    else if (word == "retain")
        base::print(stdout, "%s %zu files\n", is_dry ? "would delete" : "deleted", files.size());
    else if (done.bool_or("changed", false))
        base::print(stdout, "done, serial %lld\n", static_cast<long long>(done.int_or("serial", 0)));
    else
        base::print(stdout, "it was so already\n");
}

void print_event(const io::Json& event, bool raw) {
    std::string line = event.string_or("time", "") + "  #" + std::to_string(event.int_or("serial", 0)) + "  ";
    line.append(event.string_or("kind", ""));
    const std::string filename = event.string_or("filename", "");
    for (const std::string& part :
         {event.string_or("index", ""), filename.empty() ? event.string_or("project", "") : filename}) {
        if (!part.empty()) line.append("  ").append(part);
    }
    const std::string actor = event.string_or("actor", "");
    line.append("  by ").append(actor.empty() ? "?" : actor);
    if (const std::string name = event.string_or("actor_name", ""); !name.empty())
        line.append(" ").append(name);
    if (const std::string why = event.string_or("reason", ""); !why.empty()) line.append(": ").append(why);
    if (raw)
        std::fputs((line + "\n").c_str(), stdout);
    else
        base::print(stdout,
                    base::wrap_lines(base::printable_line(line), base::terminal_columns(STDOUT_FILENO)));
}

base::Status print_events(Door& door, Asked& asked) {
    return for_each_piece(door, asked, [&asked](const io::Json& piece) {
        for (const io::Json& event : piece.items("events")) {
            if (asked.json)
                base::print(stdout, "%s\n", event.render().c_str());
            else
                print_event(event, asked.raw);
        }
    });
}

base::Result<io::Json> read_grace(const std::string& text) {
    WHEELYARD_ASSIGN(const std::int64_t grace_ms, parse_lifetime_ms(text));
    return io::Json(grace_ms);
}

// The status of commands that may be repeated.
constexpr std::string_view repeatable =
    "Exit status: 0 success, also if nothing had to change; 1 failure (see standard error); 2 wrong usage or "
    "configuration.\n";

Command change(std::string_view below, std::string_view word, std::string_view operation,
               std::string_view summary, std::string_view example, std::vector<Option> options) {
    options.push_back({"--reason"});
    return of_operation({below, word, summary, example, {}, repeatable}, operation, std::move(options),
                        print_answer<print_changed>);
}

}  // namespace

std::vector<Command> lifecycle_commands() {
    const std::vector<Option> file{{"index"}, {"filename"}};
    return {
        change(heading::withdrawing, "yank", "yankFile",
               "Hide a file from installers, except for exact pins (PEP 592)",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'broken on ppc64le' -c registry.toml", file),
        change(heading::withdrawing, "unyank", "unyankFile", "Undo a yank",
               "main six-1.16.0-py2.py3-none-any.whl -c registry.toml", file),
        change(heading::withdrawing, "delete", "deleteFile", "Delete a file; its name is never used again",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'built from the wrong tag' -c registry.toml",
               file),
        change(heading::withdrawing, "quarantine", "quarantineFile",
               "Stop showing and serving a file, but keep it",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'under suspicion' -c registry.toml", file),
        change(heading::withdrawing, "release", "releaseFile",
               "Show and serve a quarantined file again, if its bytes are intact",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'looked through it' -c registry.toml", file),
        change(heading::withdrawing, "pin", "pinFile",
               "Protect a file from deletion, also by retention rules",
               "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml", file),
        change(heading::withdrawing, "unpin", "unpinFile", "End the protection of a pinned file",
               "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml", file),
        change(heading::adding, "promote", "promoteFile",
               "Show files in another index, too, for example from staging; all of them at once, and no "
               "bytes are copied",
               "staging torch-2.4.0-cp312-cp312-linux_aarch64.whl "
               "torchvision-0.19.0-cp312-cp312-linux_aarch64.whl --to main -c registry.toml",
               {{"index"}, {"filename"}, {"with"}, {"--to"}, {"--from-upstream"}}),
        change(heading::indexes, "status", "setProjectStatus",
               "Set a project's status (PEP 792): active, deprecated, archived (no uploads), quarantined (no "
               "uploads and no files listed)",
               "main six archived --reason 'see seven' -c registry.toml",
               {{"index"}, {"project"}, {"status"}}),
        change(heading::indexes, "retain", "applyRetention",
               "Delete all but the newest versions of each series (2.4.0 and 2.4.1 are of series 2.4), never "
               "pinned files",
               "nightly --keep 3 --dry-run -c registry.toml",
               {{"index"}, {"--keep"}, {"--project"}, {"--dry-run"}}),
        change(heading::store, "gc", "collectBlobs", "Remove stored bytes that no file refers to any more",
               "--grace 7d --dry-run -c registry.toml",
               {{.name = "--grace",
                 .argument = "grace_ms",
                 .help = "Only blobs unused for at least this long (default: 7d)",
                 .read = read_grace},
                {"--dry-run"}}),
    };
}

std::vector<Command> audit_commands() {
    return {
        of_operation({heading::reasons,
                      "audit",
                      "Who changed what, when and why",
                      "-c registry.toml --project six",
                      {},
                      repeatable},
                     "readAudit",
                     {{"--who"},
                      {"--action"},
                      {"--what"},
                      {"--index"},
                      {"--project"},
                      {"--filename"},
                      {"--from"},
                      {"--until"},
                      {"--after"}},
                     print_events, "JSON lines", add_raw_option),
    };
}

}  // namespace wheelyard::registry
