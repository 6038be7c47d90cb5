// The commands that change what is published, and the log of who did: on the data folder (--config, beside a
// running server or without one) or over HTTP (--url and --token-file).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/name.hpp"
#include "registry/access/person.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/limits.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/catalog/file_row.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/door.hpp"
#include "registry/database/store.hpp"
#include "registry/lifecycle/action.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

using lifecycle::Action;
using lifecycle::Subject;
using lifecycle::Verb;

struct LifecycleArguments {
    lifecycle::Action action;
    DoorTarget target;
    std::string status;  // a word
    std::string grace;   // "7d"
    bool json = false;
};
struct AuditArguments {
    std::filesystem::path config;
    catalog::EventFilter filter;  // its times are these:
    std::string from;
    std::string until;
    std::int64_t after = 0;  // a serial
    bool json = false;
    bool raw = false;  // text as it is, also on a terminal
};

// The command line by the names of the operation's arguments.
base::Result<io::Json> arguments_of(const LifecycleArguments& arguments) {
    const Action& action = arguments.action;
    io::Json json = io::Json::object({{"index", action.index},
                                      {"filename", action.filename},
                                      {"project", wheel::normalize_name(action.project)},
                                      {"reason", action.reason}});
    if (action.verb == Verb::promote) {
        json.set("to", action.to_index);
        json.set("with", io::Json::array_of(action.with));
        json.set("from_upstream", action.from_upstream);
    }
    if (action.verb == Verb::set_status) json.set("status", arguments.status);
    if (action.verb == Verb::retain) json.set("keep", action.keep);
    if (!arguments.grace.empty()) {
        WHEELYARD_ASSIGN(const std::int64_t grace_ms, parse_lifetime_ms(arguments.grace));
        json.set("grace_ms", grace_ms);
    }
    if (action.dry_run) json.set("dry_run", true);
    return json;
}

void print_done(const LifecycleArguments& arguments, const lifecycle::Done& done) {
    const Verb verb = arguments.action.verb;
    if (arguments.json) {
        std::printf("%s\n", lifecycle::render_done(verb, done).c_str());
        return;
    }
    const std::string word(lifecycle::row_of(verb).word);
    for (const catalog::FileName& file : done.files)
        base::print_message(stdout, word + " " + file.index + "/" + file.filename + "\n");
    if (verb == Verb::collect)
        std::printf("%s %llu blobs, %s\n", done.dry_run ? "would remove" : "removed",
                    static_cast<unsigned long long>(done.blobs), base::render_bytes(done.bytes).c_str());
    else if (verb == Verb::retain)
        std::printf("%s %zu files\n", done.dry_run ? "would delete" : "deleted", done.files.size());
    else
        std::printf("%s", done.changed ? ("done, serial " + std::to_string(done.serial) + "\n").c_str()
                                       : "it was so already\n");
}

void print_event(const catalog::Event& event, const ShownNames& names, bool json, bool raw) {
    if (json) {
        io::Json row = catalog::event_to_json(event);
        if (const auto name = names.find(event.actor); name != names.end())
            row.set("actor_name", name->second);
        std::printf("%s\n", row.render().c_str());
        return;
    }
    std::string line = base::render_rfc3339(event.time) + "  #" + std::to_string(event.serial) + "  ";
    line.append(catalog::event_kind_text(event.kind));
    for (const std::string& part : {event.index, event.filename.empty() ? event.project : event.filename}) {
        if (!part.empty()) line.append("  ").append(part);
    }
    line.append("  by ").append(event.actor.empty() ? "?" : with_shown_name(event.actor, names));
    if (!event.reason.empty()) line.append(": ").append(event.reason);
    const std::size_t columns = raw ? 0 : base::terminal_columns(STDOUT_FILENO);
    base::print_untrusted(stdout, base::wrap_lines(line, columns), raw);
}

// What this change takes; sets `arguments.action.verb`.
void add_lifecycle_options(CLI::App& command, lifecycle::Verb verb, LifecycleArguments& arguments) {
    const lifecycle::VerbRow& row = lifecycle::row_of(verb);
    Action& action = arguments.action;
    action.verb = verb;
    if (row.subject != Subject::registry) command.add_option("index", action.index, "The index")->required();
    if (row.subject == Subject::file)
        command.add_option("filename", action.filename, "The file's name, as on the project's page")
            ->required();
    if (verb == Verb::promote)
        command.add_option("with", action.with,
                           "More files of the set; users who see the first file see these, too");
    if (row.subject == Subject::project)
        command.add_option("project", action.project, "The project's name")->required();
    if (verb == Verb::set_status)
        command.add_option("status", arguments.status, "active, deprecated, archived or quarantined")
            ->required()
            ->check(CLI::IsMember({"active", "deprecated", "archived", "quarantined"}));
    if (verb == Verb::promote) command.add_option("--to", action.to_index, "The target index")->required();
    if (verb == Verb::promote)
        command.add_flag("--from-upstream", action.from_upstream,
                         "Also a file that came from an upstream, to an index that owns its name");
    if (verb == Verb::retain) {
        command.add_option("--keep", action.keep, "Number of versions to keep of each series")->required();
        command.add_option("--project", action.project, "Only this project (default: all)");
    }
    if (verb == Verb::collect)
        command.add_option("--grace", arguments.grace,
                           "Only blobs unused for at least this long (default: 7d)");
    if (verb == Verb::retain || verb == Verb::collect)
        command.add_flag("--dry-run", action.dry_run,
                         "Print what would be removed without changing anything");
    auto* reason =
        command.add_option("--reason", action.reason, "The reason in one line; recorded in the log");
    if (row.needs_reason) reason->required();
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
    add_target(command, arguments.target.config, arguments.target.url, arguments.target.token_file);
}

void add_audit_options(CLI::App& command, AuditArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_option("--who", arguments.filter.who, "Only changes by those with this part in their name");
    command.add_option("--action", arguments.filter.kind,
                       "Only changes with this part in their kind, such as yank");
    command.add_option("--what", arguments.filter.what,
                       "Only changes of projects or files with this part in their name");
    command.add_option("--index", arguments.filter.index, "Only this index");
    command.add_option("--project", arguments.filter.project, "Only this project");
    command.add_option("--filename", arguments.filter.filename, "Only this file");
    command.add_option("--from", arguments.from, "Only from this day or time on (UTC): 2026-11-20");
    command.add_option("--until", arguments.until, "Only until this day, which is in it, or time");
    command.add_option("--after", arguments.after, "Only after this serial");
    command.add_flag("--json", arguments.json, "JSON lines");
    command.add_flag("--raw", arguments.raw,
                     "Print control characters also on a terminal (default: only to a file or a pipe)");
}

// Performs the action and prints the result; pages and tree show it on return.
base::Status run_lifecycle(const LifecycleArguments& arguments, const OpenPublisher& open_publisher,
                           const base::Clock& clock) {
    WHEELYARD_ASSIGN(const io::Json asked, arguments_of(arguments));
    WHEELYARD_ASSIGN(const auto door, Door::open(arguments.target, open_publisher, clock));
    WHEELYARD_ASSIGN(const std::string answer,
                     door->ask(lifecycle::row_of(arguments.action.verb).operation, asked));
    WHEELYARD_ASSIGN(const lifecycle::Done done, lifecycle::parse_done(answer));
    print_done(arguments, done);
    return {};
}

base::Status run_audit(const AuditArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config(arguments.config));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    catalog::EventFilter filter = arguments.filter;
    if (!filter.project.empty()) filter.project = wheel::normalize_name(filter.project);
    filter.kind = base::replace_all(filter.kind, " ", "_");
    WHEELYARD_TRY(catalog::read_times(arguments.from, arguments.until, filter));
    catalog::EventRange range{.after = arguments.after, .limit = max_events_returned};
    WHEELYARD_ASSIGN(const auto tokens, catalog->tokens());
    const ShownNames names = shown_names(tokens);
    while (true) {
        WHEELYARD_ASSIGN(const auto events, catalog->find_events(filter, range));
        for (const catalog::Event& event : events)
            print_event(event, names, arguments.json, arguments.raw);
        if (events.size() < range.limit) return {};
        range.after = events.back().serial;
    }
}

// The status of commands that may be repeated.
constexpr std::string_view repeatable =
    "Exit status: 0 success, also if nothing had to change; 1 failure (see standard error); 2 wrong usage.\n";

// A change to published files: lifecycle::verbs() has its name.
Command change(lifecycle::Verb verb, std::string_view summary, std::string_view example) {
    const auto options = [verb](CLI::App& command, LifecycleArguments& arguments) {
        add_lifecycle_options(command, verb, arguments);
    };
    return {"",
            lifecycle::row_of(verb).word,
            summary,
            example,
            with_options<LifecycleArguments>(options, run_lifecycle),
            repeatable};
}

}  // namespace

std::vector<Command> lifecycle_commands() {
    return {
        change(Verb::yank, "Hide a file from installers, except for exact pins (PEP 592)",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'broken on ppc64le' -c registry.toml"),
        change(Verb::unyank, "Undo a yank", "main six-1.16.0-py2.py3-none-any.whl -c registry.toml"),
        change(Verb::remove, "Delete a file; its name is never used again",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'built from the wrong tag' -c registry.toml"),
        change(Verb::quarantine, "Stop showing and serving a file, but keep it",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'under suspicion' -c registry.toml"),
        change(Verb::release, "Show and serve a quarantined file again, if its bytes are intact",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'looked through it' -c registry.toml"),
        change(Verb::pin, "Protect a file from deletion, also by retention rules",
               "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml"),
        change(Verb::unpin, "End the protection of a pinned file",
               "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml"),
        change(Verb::promote,
               "Show files in another index, too, for example from staging; all of them at once, and no "
               "bytes are copied",
               "staging torch-2.4.0-cp312-cp312-linux_aarch64.whl "
               "torchvision-0.19.0-cp312-cp312-linux_aarch64.whl --to main -c registry.toml"),
        change(Verb::set_status,
               "Set a project's status (PEP 792): active, deprecated, archived (no uploads), quarantined (no "
               "uploads and no files listed)",
               "main six archived --reason 'see seven' -c registry.toml"),
        change(Verb::retain,
               "Delete all but the newest versions of each series (2.4.0 and 2.4.1 are of series 2.4), never "
               "pinned files",
               "nightly --keep 3 --dry-run -c registry.toml"),
        change(Verb::collect, "Remove stored bytes that no file refers to any more",
               "--grace 7d --dry-run -c registry.toml"),
    };
}

std::vector<Command> audit_commands() {
    return {
        {"", "audit", "Who changed what, when and why", "-c registry.toml --project six",
         setup(add_audit_options, run_audit), repeatable},
    };
}

}  // namespace wheelyard::registry
