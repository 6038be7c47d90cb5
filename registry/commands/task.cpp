// `wheelyard-registry task add|list|show|log|approve|reject|cancel`: on the data folder (--config, beside a running server
// or without one) or over HTTP (--url and --token-file).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/process/terminal.hpp"
#include "lib/base/process/terminal_columns.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/task.hpp"
#include "registry/access/local_actor.hpp"
#include "registry/access/person.hpp"
#include "registry/api/limits.hpp"
#include "registry/api/task_api.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/remote_registry.hpp"
#include "registry/config/config.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/database/store.hpp"
#include "registry/intake/uploaded_source.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/owner.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {
namespace {

using wire::Task;

struct TaskArguments {
    wire::TaskRequest request;
    // of `add`: a wheel for each Python on each accelerator of each index
    std::vector<std::string> pythons;
    std::vector<std::string> accelerators;
    std::vector<std::string> more_indexes;
    std::string
        source_index;  // of `add`: that has the uploaded source distribution; empty: the recipe's source
    std::string id;
    std::string state;  // of `list`; empty: all
    std::string reason;
    std::filesystem::path config;      // of a local data folder; or:
    std::string url;                   // of a remote registry
    std::filesystem::path token_file;  // with url
    bool json = false;
    bool raw = false;  // of `log`: as it is, also on a terminal
};

// The queue of a local data folder or of a remote registry, with the same answers.
class TaskDesk {
  public:
    virtual ~TaskDesk() = default;
    // One answer for each request, in their order.
    virtual std::vector<base::Result<Task>> add(const std::vector<wire::TaskRequest>& requests) = 0;
    virtual base::Result<Task> find(const std::string& id) = 0;
    virtual base::Result<Task> approve(const std::string& id) = 0;
    virtual base::Result<Task> reject(const std::string& id, const std::string& reason) = 0;
    virtual base::Result<Task> cancel(const std::string& id, const std::string& reason) = 0;
    virtual base::Result<std::vector<Task>> list(const std::string& index, const std::string& state,
                                                 const std::string& after) = 0;
    virtual base::Result<std::string> read_log(const std::string& id, std::int64_t offset) = 0;
    // What people are called, as far as the caller may learn it.
    virtual base::Result<ShownNames> names() = 0;
};

class LocalDesk final : public TaskDesk {
  public:
    LocalDesk(RegistryConfig config, database::Store store, std::unique_ptr<tasks::TaskStore> tasks)
        : config_(std::move(config)), store_(std::move(store)), tasks_(std::move(tasks)) {}
    std::vector<base::Result<Task>> add(const std::vector<wire::TaskRequest>& requests) override {
        std::vector<base::Result<Task>> answers;
        for (const wire::TaskRequest& request : requests)
            answers.push_back(add_one(request));
        return answers;
    }
    base::Result<Task> add_one(const wire::TaskRequest& request) {
        WHEELYARD_ASSIGN(wire::TaskRequest checked, wire::check_task_request(request));
        const IndexConfig* index = config_.find_index(checked.index);
        if (index == nullptr)
            return base::fail("index.unknown", "There is no index with this name", checked.index,
                              "configured: " + base::join(config_.index_names(), ", "));
        WHEELYARD_TRY(check_takes_builds(config_, *index));
        WHEELYARD_TRY(check_stays_private(config_, checked));
        if (checked.source) {
            WHEELYARD_ASSIGN(const auto catalog, store_.reader());
            WHEELYARD_ASSIGN(checked, resolve_source(std::move(checked), *catalog));
        }
        WHEELYARD_ASSIGN(tasks::AddedTask added, tasks_->add(checked, local_actor()));
        return std::move(added.task);
    }
    base::Result<Task> approve(const std::string& id) override { return tasks_->approve(id, local_actor()); }
    base::Result<Task> reject(const std::string& id, const std::string& reason) override {
        return tasks_->reject(id, local_actor(), reason);
    }
    base::Result<Task> find(const std::string& id) override { return tasks_->find(id); }
    base::Result<Task> cancel(const std::string& id, const std::string& reason) override {
        return tasks_->cancel(id, local_actor(), reason);
    }
    base::Result<std::vector<Task>> list(const std::string& index, const std::string& state,
                                         const std::string& after) override {
        tasks::TaskFilter filter{.index = index, .state = {}};
        if (!state.empty()) filter.state = wire::parse_task_state(state);
        return tasks_->list(filter, after);
    }
    base::Result<std::string> read_log(const std::string& id, std::int64_t offset) override {
        return tasks_->read_log(id, 0, offset);
    }
    base::Result<ShownNames> names() override {
        WHEELYARD_ASSIGN(const auto catalog, store_.reader());
        WHEELYARD_ASSIGN(const auto tokens, catalog->tokens());
        return shown_names(tokens);
    }

  private:
    RegistryConfig config_;
    database::Store store_;
    std::unique_ptr<tasks::TaskStore> tasks_;
};

class RemoteDesk final : public TaskDesk {
  public:
    explicit RemoteDesk(RemoteRegistry remote) : remote_(std::move(remote)) {}
    std::vector<base::Result<Task>> add(const std::vector<wire::TaskRequest>& requests) override {
        std::vector<base::Result<Task>> answers;
        for (std::size_t from = 0; from < requests.size(); from += max_tasks_added) {
            const std::size_t until = std::min(from + max_tasks_added, requests.size());
            auto part = add_part({requests.begin() + static_cast<std::ptrdiff_t>(from),
                                  requests.begin() + static_cast<std::ptrdiff_t>(until)});
            for (std::size_t at = from; at < until; ++at)
                answers.push_back(part ? std::move((*part)[at - from]) : base::fail(part.error()));
        }
        return answers;
    }
    base::Result<Task> find(const std::string& id) override { return read_task(remote_.get(address_of(id))); }
    base::Result<Task> approve(const std::string& id) override { return change(id, "/approve", {}); }
    base::Result<Task> reject(const std::string& id, const std::string& reason) override {
        return change(id, "/reject", reason);
    }
    base::Result<Task> cancel(const std::string& id, const std::string& reason) override {
        return change(id, "/cancel", reason);
    }
    base::Result<std::vector<Task>> list(const std::string& index, const std::string& state,
                                         const std::string& after) override {
        WHEELYARD_ASSIGN(const std::string body,
                         remote_.get("/api/v1/tasks?index=" + base::encode_percent(index) + "&state=" +
                                     base::encode_percent(state) + "&after=" + base::encode_percent(after)));
        return wire::parse_tasks(body);
    }
    base::Result<std::string> read_log(const std::string& id, std::int64_t offset) override {
        return remote_.get(address_of(id) + "/log?offset=" + std::to_string(offset));
    }
    base::Result<ShownNames> names() override { return remote_.shown_names(); }

  private:
    base::Result<Task> change(const std::string& id, const std::string& verb, const std::string& reason) {
        const io::Json body = io::Json::object({{"format", "wheelyard.change/1"}, {"reason", reason}});
        return read_task(remote_.post(address_of(id) + verb, body.render()));
    }
    // At most max_tasks_added, in one request.
    base::Result<std::vector<base::Result<Task>>> add_part(const std::vector<wire::TaskRequest>& requests) {
        io::Json list = io::Json::array();
        for (const wire::TaskRequest& request : requests) {
            WHEELYARD_ASSIGN(io::Json document, io::parse_json(wire::render_task_request(request)));
            list.push(std::move(document));
        }
        const io::Json body = io::Json::object({{"format", task_list_format}, {"tasks", std::move(list)}});
        WHEELYARD_ASSIGN(const std::string reply, remote_.post("/api/v1/tasks/add", body.render()));
        WHEELYARD_ASSIGN(const io::Json document, io::parse_json(reply));
        if (document.items("tasks").size() != requests.size())
            return base::fail("task.body", "The server answered another number of tasks",
                              std::to_string(document.items("tasks").size()), "upgrade the server");
        std::vector<base::Result<Task>> answers;
        for (const io::Json& one : document.items("tasks")) {
            const io::Json* problem = one.find("problem");
            answers.push_back(
                problem == nullptr
                    ? wire::parse_task(one.render())
                    : base::fail(problem->string_or("code", ""), problem->string_or("detail", ""),
                                 problem->string_or("value", ""), problem->string_or("advice", "")));
        }
        return answers;
    }
    static std::string address_of(const std::string& id) {
        return "/api/v1/tasks/" + base::encode_percent(id);
    }
    static base::Result<Task> read_task(const base::Result<std::string>& body) {
        if (!body) return tl::unexpected(body.error());
        return wire::parse_task(*body);
    }
    RemoteRegistry remote_;
};

base::Result<std::unique_ptr<TaskDesk>> open_desk(const TaskArguments& arguments, const base::Clock& clock) {
    if (!arguments.url.empty()) {
        WHEELYARD_ASSIGN(RemoteRegistry remote, RemoteRegistry::open(arguments.url, arguments.token_file));
        return std::make_unique<RemoteDesk>(std::move(remote));
    }
    WHEELYARD_ASSIGN(RegistryConfig config, read_config_as_owner(arguments.config));
    database::Store store(config.database());
    WHEELYARD_ASSIGN(auto tasks, store.tasks(config.tasks, clock));
    return std::make_unique<LocalDesk>(std::move(config), std::move(store), std::move(tasks));
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
    return line;
}

void print_task(const Task& task, const TaskArguments& arguments) {
    const std::string text = arguments.json ? wire::task_json(task).render() : render_text(task);
    base::print_untrusted(stdout, text + "\n");
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
base::Status print_list(TaskDesk& desk, const TaskArguments& arguments) {
    std::vector<base::TableRow> rows{{"TASK", "STATE", "INDEX", "PACKAGE", "VERSION", "PYTHON", "ACCELERATOR",
                                      "SOURCE", "ASKED BY", "AGENT", "WHY"}};
    WHEELYARD_ASSIGN(const ShownNames names, desk.names());
    std::string after;
    while (true) {
        WHEELYARD_ASSIGN(const std::vector<Task> tasks,
                         desk.list(arguments.request.index, arguments.state, after));
        for (const Task& task : tasks) {
            if (arguments.json)
                base::print_untrusted(stdout, wire::task_row_json(task).render() + "\n");
            else
                rows.push_back(task_row(task, names));
        }
        if (tasks.empty() || tasks.back().id == after) break;
        after = tasks.back().id;
    }
    if (rows.size() > 1)
        base::print_untrusted(stdout, base::render_table(rows, base::terminal_columns(STDOUT_FILENO)));
    return {};
}

base::Status print_log(TaskDesk& desk, const TaskArguments& arguments) {
    base::TerminalWriter writer(stdout, arguments.raw);
    std::int64_t offset = 0;
    while (true) {
        WHEELYARD_ASSIGN(const std::string piece, desk.read_log(arguments.id, offset));
        if (piece.empty()) {
            writer.finish();
            return {};
        }
        writer.write(piece);
        offset += static_cast<std::int64_t>(piece.size());
    }
}

// The options of `show`, `log` and the changes.
void add_task_options(CLI::App& command, TaskArguments& arguments) {
    add_target(command, arguments.config, arguments.url, arguments.token_file);
    command.add_option("id", arguments.id, "Its id, as `task list` shows it")->required();
}

base::Status print_changed(const base::Result<Task>& task, const TaskArguments& arguments) {
    if (!task) return base::fail(task.error());
    print_task(*task, arguments);
    return {};
}

void add_task_add_options(CLI::App& command, TaskArguments& arguments) {
    wire::TaskRequest& request = arguments.request;
    add_target(command, arguments.config, arguments.url, arguments.token_file);
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

void add_task_list_options(CLI::App& command, TaskArguments& arguments) {
    add_target(command, arguments.config, arguments.url, arguments.token_file);
    command.add_option("index", arguments.request.index, "Only of this index");
    command
        .add_option("--state", arguments.state, "awaits_approval, queued, claimed, done, failed or cancelled")
        ->check(CLI::IsMember({"awaits_approval", "queued", "claimed", "done", "failed", "cancelled"}));
    command.add_flag("--json", arguments.json, "JSON lines, without outcomes: `show` has them");
}

void add_task_show_options(CLI::App& command, TaskArguments& arguments) {
    add_task_options(command, arguments);
    command.add_flag("--json", arguments.json, "One JSON document, with its outcome");
}

void add_task_log_options(CLI::App& command, TaskArguments& arguments) {
    add_task_options(command, arguments);
    command.add_flag("--raw", arguments.raw,
                     "Print control characters also on a terminal (default: only to a file or a pipe)");
}

void add_task_approve_options(CLI::App& command, TaskArguments& arguments) {
    add_task_options(command, arguments);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

void add_task_end_options(CLI::App& command, TaskArguments& arguments) {
    add_task_options(command, arguments);
    command.add_option("--reason", arguments.reason, "The reason in one line");
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
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
base::Status add_tasks(TaskDesk& desk, const TaskArguments& arguments) {
    const auto requests = requests_of(arguments);
    std::size_t refused = 0;
    std::optional<base::Error> first;
    const auto answers = desk.add(requests);
    for (std::size_t at = 0; at < requests.size(); ++at) {
        const wire::TaskRequest& request = requests[at];
        const auto& task = answers[at];
        if (task) {
            print_task(*task, arguments);
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

base::Status run_task_add(const TaskArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto desk, open_desk(arguments, clock));
    return add_tasks(*desk, arguments);
}

base::Status run_task_list(const TaskArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto desk, open_desk(arguments, clock));
    return print_list(*desk, arguments);
}

base::Status run_task_log(const TaskArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto desk, open_desk(arguments, clock));
    return print_log(*desk, arguments);
}

base::Status run_task_show(const TaskArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto desk, open_desk(arguments, clock));
    return print_changed(desk->find(arguments.id), arguments);
}

base::Status run_task_approve(const TaskArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto desk, open_desk(arguments, clock));
    return print_changed(desk->approve(arguments.id), arguments);
}

base::Status run_task_reject(const TaskArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto desk, open_desk(arguments, clock));
    return print_changed(desk->reject(arguments.id, arguments.reason), arguments);
}

base::Status run_task_cancel(const TaskArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto desk, open_desk(arguments, clock));
    return print_changed(desk->cancel(arguments.id, arguments.reason), arguments);
}

constexpr std::string_view of_tasks =
    "Exit status: 0 success; 1 failure (see standard error); 2 wrong usage.\n";

}  // namespace

std::vector<Command> task_commands() {
    return {
        {"task", "add", "Request wheels; returns the existing task if there is one",
         "bede-gh200 torch 2.4.0 --python 3.11 --python 3.12 -c registry.toml",
         setup(add_task_add_options, run_task_add), of_tasks},
        {"task", "list", "List tasks in the order of their requests",
         "bede-gh200 --state queued -c registry.toml", setup(add_task_list_options, run_task_list), of_tasks},
        {"task", "show", "Show a task", "t5f0c9a31d2be --json -c registry.toml",
         setup(add_task_show_options, run_task_show), of_tasks},
        {"task", "log", "Print the log of the latest attempt", "t5f0c9a31d2be -c registry.toml",
         setup(add_task_log_options, run_task_log), of_tasks},
        {"task", "approve", "Let a site build an uploaded source distribution",
         "t5f0c9a31d2be -c registry.toml", setup(add_task_approve_options, run_task_approve), of_tasks},
        {"task", "reject", "Reject a task that awaits an approval",
         "t5f0c9a31d2be --reason 'not ours' -c registry.toml", setup(add_task_end_options, run_task_reject),
         of_tasks},
        {"task", "cancel", "Cancel a task; its agent notices at its next tick",
         "t5f0c9a31d2be --reason 'wrong version' -c registry.toml",
         setup(add_task_end_options, run_task_cancel), of_tasks},
    };
}

}  // namespace wheelyard::registry
