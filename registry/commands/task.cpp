// `wheelyard-registry task add|list|show|log|approve|reject|cancel`: on the data folder (--config, beside a
// running server or without one) or over HTTP (--url and --token-file).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/task.hpp"
#include "registry/access/person.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/door.hpp"
#include "registry/commands/operation_command.hpp"

namespace wheelyard::registry {
namespace {

using wire::Task;

struct TaskArguments {
    wire::TaskRequest request;
    // a wheel for each Python on each accelerator of each index
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;
    std::vector<std::string> more_indexes;
    std::string source_index;  // that has the uploaded source distribution; empty: the recipe's source
    DoorTarget target;
    bool json = false;
};

// A task as the server answers it: its document also says why nobody takes it.
struct AnsweredTask {
    Task task;
    io::Json document;
};

base::Result<AnsweredTask> read_task(const io::Json& document) {
    WHEELYARD_ASSIGN(Task task, wire::parse_task(document.render()));
    return AnsweredTask{std::move(task), document};
}

// At most max_tasks_added, in one request.
base::Result<std::vector<base::Result<AnsweredTask>>> add_part(Door& door,
                                                               std::span<const wire::TaskRequest> requests) {
    io::Json list = io::Json::array();
    for (const wire::TaskRequest& request : requests) {
        WHEELYARD_ASSIGN(io::Json document, io::parse_json(wire::render_task_request(request)));
        list.push(std::move(document));
    }
    WHEELYARD_ASSIGN(const std::string reply,
                     door.ask("addTasks", io::Json::object({{"tasks", std::move(list)}})));
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(reply));
    if (document.items("tasks").size() != requests.size())
        return base::fail("task.body", "The server answered another number of tasks",
                          std::to_string(document.items("tasks").size()), "upgrade the server");
    std::vector<base::Result<AnsweredTask>> answers;
    for (const io::Json& one : document.items("tasks")) {
        const io::Json* problem = one.find("problem");
        answers.push_back(
            problem == nullptr
                ? read_task(one)
                : wire::parse_problem(problem->render()).and_then([](const wire::Problem& refusal) {
                      return base::Result<AnsweredTask>(base::fail(error_of(refusal)));
                  }));
    }
    return answers;
}

// One answer for each request, in their order.
std::vector<base::Result<AnsweredTask>> add_all(Door& door, const std::vector<wire::TaskRequest>& requests) {
    std::vector<base::Result<AnsweredTask>> answers;
    const std::span<const wire::TaskRequest> all(requests);
    for (std::size_t from = 0; from < all.size(); from += wire::max_tasks_added) {
        const auto wanted = all.subspan(from, std::min(wire::max_tasks_added, all.size() - from));
        auto part = add_part(door, wanted);
        for (std::size_t at = 0; at < wanted.size(); ++at)
            answers.push_back(part ? std::move((*part)[at]) : base::fail(part.error()));
    }
    return answers;
}

std::string render_text(const Task& task) {
    const wire::TaskRequest& request = task.request;
    std::string line = task.id + "  " + std::string(wire::task_state_text(task.state)) + "  " +
                       request.index + "  " + request.package + " " + request.version + " for Python " +
                       request.python;
    if (!request.accelerator.empty()) line += ", " + request.accelerator;
    if (request.source) line += "  from " + request.source->filename + " of " + request.source->index;
    if (!task.agent.empty()) line += "  by " + task.agent;
    if (!task.reason.empty()) line += ": " + task.reason;
    return base::printable_line(line);
}

void print_task(const AnsweredTask& answered, bool json) {
    std::string text = json ? answered.document.render() : render_text(answered.task);
    const std::string nobody_takes = answered.document.string_or("nobody_takes", "");
    if (!json && !nobody_takes.empty()) text += "\n  " + nobody_takes;
    base::print(stdout, text + "\n");
}

base::Status print_one(Door& door, Asked& asked) {
    WHEELYARD_ASSIGN(const std::string answer, door.ask(asked.operation, asked.arguments));
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(answer));
    WHEELYARD_ASSIGN(const AnsweredTask task, read_task(document));
    print_task(task, asked.json);
    return {};
}

base::TableRow task_row(const Task& task, const ShownNames& names) {
    const wire::TaskRequest& request = task.request;
    const std::string source =
        request.source ? request.source->filename + " of " + request.source->index : "";
    return {task.id,
            std::string(wire::task_state_text(task.state)),
            request.index,
            request.package,
            request.version,
            request.python,
            request.accelerator,
            source,
            with_shown_name(task.asked_by, names),
            task.agent,
            task.reason};
}

// One request for each piece: a queue can be longer than one answer.
base::Status print_list(Door& door, Asked& asked) {
    std::vector<base::TableRow> rows{{"TASK", "STATE", "INDEX", "PACKAGE", "VERSION", "PYTHON", "ACCELERATOR",
                                      "SOURCE", "ASKED BY", "AGENT", "WHY"}};
    const ShownNames names = door.shown_names();
    std::string after;
    while (true) {
        WHEELYARD_ASSIGN(const std::string answer, door.ask(asked.operation, asked.arguments));
        WHEELYARD_ASSIGN(const std::vector<Task> tasks, wire::parse_tasks(answer));
        for (const Task& task : tasks) {
            if (asked.json)
                base::print(stdout, wire::task_row_json(task).render() + "\n");
            else
                rows.push_back(task_row(task, names));
        }
        if (tasks.empty() || tasks.back().id == after) break;
        after = tasks.back().id;
        asked.arguments.set("after", after);
    }
    if (rows.size() > 1) base::print(stdout, base::render_table(rows, base::terminal_columns(STDOUT_FILENO)));
    return {};
}

base::Status print_log(Door& door, Asked& asked) {
    base::TerminalWriter writer(stdout, asked.raw);
    std::int64_t offset = 0;
    while (true) {
        asked.arguments.set("offset", offset);
        WHEELYARD_ASSIGN(const std::string piece, door.ask(asked.operation, asked.arguments));
        if (piece.empty()) {
            writer.finish();
            return {};
        }
        writer.write(piece);
        offset += static_cast<std::int64_t>(piece.size());
    }
}

void add_task_add_options(CLI::App& command, TaskArguments& arguments) {
    wire::TaskRequest& request = arguments.request;
    add_target(command, arguments.target.config, arguments.target.url, arguments.target.token_file);
    command.add_option("index", request.index, "The index whose site should build it")->required();
    command.add_option("package", request.package, "The project (agents need a recipe for it)")->required();
    command.add_option("version", request.version, "One exact version")->required();
    command.add_option("--python", arguments.pythons, "Python version, such as 3.11; repeatable")
        ->required()
        ->allow_extra_args(false);
    command
        .add_option("--accelerator", arguments.accelerators,
                    "An accelerator of the site (default: none); repeatable")
        ->allow_extra_args(false);
    command
        .add_option("--also", arguments.more_indexes, "Another index whose site should build it; repeatable")
        ->allow_extra_args(false);
    command.add_option("--source", arguments.source_index,
                       "Build the source distribution of this version that was uploaded to this index; the "
                       "task awaits an approval");
    command.add_flag("--json", arguments.json, "JSON lines, one document for each task");
}

std::vector<wire::TaskRequest> requests_of(const TaskArguments& arguments) {
    std::vector<std::string> indexes{arguments.request.index};
    indexes.insert(indexes.end(), arguments.more_indexes.begin(), arguments.more_indexes.end());
    const auto accelerators =
        arguments.accelerators.empty() ? std::vector<std::string>{""} : arguments.accelerators;
    std::vector<wire::TaskRequest> requests;
    for (const std::string& index : indexes) {
        for (const std::string& python : arguments.pythons) {
            for (const std::string& accelerator : accelerators) {
                requests.push_back(arguments.request);
                requests.back().index = index;
                requests.back().python = python;
                requests.back().accelerator = accelerator;
                if (!arguments.source_index.empty())
                    requests.back().source = wire::UploadedSource{arguments.source_index, "", ""};
            }
        }
    }
    return requests;
}

// A refused one stops none of the others. Repeating the command adds what is missing.
base::Status add_tasks(Door& door, const TaskArguments& arguments) {
    const auto requests = requests_of(arguments);
    std::size_t refused = 0;
    std::optional<base::Error> first;
    const auto answers = add_all(door, requests);
    for (std::size_t at = 0; at < requests.size(); ++at) {
        const wire::TaskRequest& request = requests[at];
        const auto& task = answers[at];
        if (task) {
            print_task(*task, arguments.json);
            continue;
        }
        if (requests.size() > 1)
            base::print_message(
                stderr, request.index + ", Python " + request.python + ": " + task.error().text() + "\n");
        if (++refused == 1) first = task.error();
    }
    if (!first) return {};
    if (requests.size() == 1) return base::fail(*first);
    return base::fail("task.refused", "Some of the requests were refused",
                      std::to_string(refused) + " of " + std::to_string(requests.size()), first->advice);
}

base::Status run_task_add(const TaskArguments& arguments, const OpenPublisher& open_publisher,
                          const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto door, Door::open(arguments.target, open_publisher, clock));
    return add_tasks(*door, arguments);
}

constexpr std::string_view of_tasks =
    "Exit status: 0 success; 1 failure (see standard error); 2 wrong usage or configuration.\n";

Command of_task(std::string_view name, std::string_view operation, std::string_view summary,
                std::string_view example, std::vector<Option> options, const PrintAnswer& answer = print_one,
                std::string_view json = one_document, MoreOptions more = nullptr) {
    return of_operation({"task", name, summary, example, {}, of_tasks}, operation, std::move(options), answer,
                        json, more);
}

}  // namespace

std::vector<Command> task_commands() {
    const Option id{.name = "id", .argument = "task"};
    return {
        {"task", "add", "Request wheels; returns the existing task if there is one",
         "bede-gh200 torch 2.4.0 --python 3.11 --python 3.12 -c registry.toml",
         setup(add_task_add_options, run_task_add), of_tasks},
        of_task("list", "listTasks", "List tasks in the order of their requests",
                "bede-gh200 --state queued -c registry.toml", {{"index"}, {"--state"}}, print_list,
                "JSON lines, without outcomes: `show` has them"),
        of_task("show", "showTask", "Show a task", "t5f0c9a31d2be --json -c registry.toml", {id}, print_one,
                "One JSON document, with its outcome"),
        of_task("log", "readTaskLog", "Print the log of the latest build", "t5f0c9a31d2be -c registry.toml",
                {id}, print_log, {}, add_raw_option),
        of_task("approve", "approveTask", "Let a site build an uploaded source distribution",
                "t5f0c9a31d2be -c registry.toml", {id}),
        of_task("reject", "rejectTask", "Reject a task that awaits an approval",
                "t5f0c9a31d2be --reason 'not ours' -c registry.toml", {id, {"--reason"}}),
        of_task("cancel", "cancelTask", "Cancel a task; its agent notices at its next tick",
                "t5f0c9a31d2be --reason 'wrong version' -c registry.toml", {id, {"--reason"}}),
    };
}

}  // namespace wheelyard::registry
