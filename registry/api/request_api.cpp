// Requests for wheels by people without a token, and what everybody may see of one.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/wire/documents.hpp"
#include "lib/wire/outcome.hpp"
#include "lib/wire/task.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/api/task_api.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_builds_of_request = 20;  // the newest

using io::field;
using wire::Task;
using wire::TaskState;

tl::unexpected<wire::Problem> refuse_request(const Call& call, const base::Error& error) {
    return fail_call(call, "request.refused", error, problem_of_task);
}

// Tells the clients of one run of the server apart, and says nothing of where they are.
std::string stranger_name(const std::string& client) {
    static const std::string salt = base::random_bytes(16);
    return std::string(tasks::stranger_prefix) + base::sha256_hex(salt + client).substr(0, 12);
}

struct RequestOf {
    std::string index;
    std::string task;
};
struct RequestsOf {
    std::string index;
};
constexpr auto of_request = arguments<RequestOf>({
    in_path(field<&RequestOf::index>("index", "The index")),
    in_path(field<&RequestOf::task>("task", "The ID of the request")),
});
constexpr auto of_wheel = arguments<RequestsOf>({
    in_path(field<&RequestsOf::index>("index", "The index whose site should build it")),
    in_document<RequestsOf>("package", "One project", true),
    in_document<RequestsOf>("version", "One exact version", true),
    in_document<RequestsOf>("python", "`3.11`", true),
    in_document<RequestsOf>("accelerator", "One of the site's accelerators"),
});

struct ReadRequest {
    Task task;
    bool has_logs = false;
    bool may_approve = false;
    bool may_retry = false;
};

bool may_approve(const Call& call, const Task& task) {
    return call.caller && allows(*call.caller, task.request.index, task.request.package, approve_action);
}

wire::Answered<ReadRequest> read_request(const ApiParts& parts, const Call& call, const RequestOf& of) {
    auto task = parts.tasks->find(of.task);
    if (!task && task.error().kind != base::ErrorKind::missing) return refuse_request(call, task.error());
    const bool is_here = task && task->request.index == of.index;
    const auto index =
        index_to_read(parts.config, call.caller, of.index, is_here ? task->request.package : std::string());
    if (!index) return tl::unexpected(index.error());
    if (!is_here)
        return refuse("task.no_such_task", "There is no request with this ID", of.task,
                      "see the page of builds of the index");
    const bool has_logs = may_read_logs(parts.config, call.caller, **index, task->request.package);
    return ReadRequest{*task, has_logs, may_approve(call, *task),
                       may_retry(call.caller, task->request.index, task->request.package)};
}

struct ShownRequest {
    Task task;
    std::optional<bool> may_retry = {};
    std::string cause = {};
    std::string remedy = {};
    std::string rule = {};
    std::optional<std::int64_t> place = {};
    std::string nobody_takes = {};
    std::optional<std::vector<status::BuildReport>> builds = {};
};
using status::BuildReport;
using wire::TaskRequest;
constexpr auto build_of_request_record = io::record<BuildReport>({
    field<&BuildReport::site>("site", "the site that builds"),
    field<&BuildReport::id>("id", "the ID of the build"),
    field<&BuildReport::state>("state", "its state (builds.md)"),
    field<io::Moment, &BuildReport::began>("began", "when"),
});
constexpr auto shown_request_record = io::record<ShownRequest>(
    {
        field<&ShownRequest::task, &Task::id>("id", "the ID of the request"),
        field<&ShownRequest::task, &Task::request, &TaskRequest::index>(
            "index", "the index whose site should build it"),
        field<&ShownRequest::task, &Task::request, &TaskRequest::package>("package",
                                                                          "the project's normalised name"),
        field<&ShownRequest::task, &Task::request, &TaskRequest::version>("version", "one exact version"),
        field<&ShownRequest::task, &Task::request, &TaskRequest::python>("python", "`3.11`"),
        field<&ShownRequest::task, &Task::request, &TaskRequest::accelerator>("accelerator", "or empty"),
        field<io::WordOf<wire::task_states>, &ShownRequest::task, &Task::state>("state", "that of the task"),
        field<&ShownRequest::task, &Task::reason>("reason", "explains the state to people, or empty"),
        field<io::Moment, &ShownRequest::task, &Task::asked>("asked", "when it was added"),
        field<io::Moment, &ShownRequest::task, &Task::changed>("changed", "when it entered its state"),
        field<&ShownRequest::task, &Task::attempts>("attempts", "how often it was claimed"),
        field<&ShownRequest::may_retry>("may_retry",
                                        "of a failed one: whether the caller may request it again",
                                        io::Need::optional, io::Written::unless_null),
        field<&ShownRequest::task, &Task::asked_by>("asked_by", "for those who may read logs",
                                                    io::Need::optional, io::Written::if_given),
        field<&ShownRequest::task, &Task::approved_by>("approved_by", "likewise", io::Need::optional,
                                                       io::Written::if_given),
        field<&ShownRequest::task, &Task::agent>("agent", "likewise", io::Need::optional,
                                                 io::Written::if_given),
        field<&ShownRequest::cause>("cause", "why it failed", io::Need::optional, io::Written::if_given),
        field<&ShownRequest::remedy>("remedy", "what to do", io::Need::optional, io::Written::if_given),
        field<&ShownRequest::rule>("rule", "the doctor's rule (doctor-rules.md)", io::Need::optional,
                                   io::Written::if_given),
        field<&ShownRequest::place>("place", "in the queue, from 1", io::Need::optional,
                                    io::Written::unless_null),
        field<&ShownRequest::nobody_takes>("nobody_takes", "why no site takes it", io::Need::optional,
                                           io::Written::if_given),
        field<io::ListOf<io::Nested<build_of_request_record>>, &ShownRequest::builds>(
            "builds", "at this wheel, the newest first, at most 20", io::Need::optional,
            io::Written::unless_null),
    },
    "wheelyard.request/1");
constexpr auto request_document = io::document_of<shown_request_record>;

// Where it is in the queue, and whether anybody will take it.
void add_queue(const ApiParts& parts, ShownRequest& shown) {
    const Task& task = shown.task;
    if (task.state != TaskState::queued) return;
    if (const auto place = parts.tasks->place(task); place) shown.place = static_cast<std::int64_t>(*place);
    if (parts.sites == nullptr || !task.reason.empty()) return;
    shown.nobody_takes = parts.sites->why_nobody_takes(
        task.request.index, {.id = task.id,
                             .package = task.request.package,
                             .version = task.request.version,
                             .python = task.request.python,
                             .accelerator = task.request.accelerator,
                             .state = std::string(wire::task_state_text(task.state)),
                             .reason = {},
                             .asked = task.asked});
}

// The builds at this wheel, each with its page.
std::vector<BuildReport> builds_at(const ApiParts& parts, const Task& task) {
    const IndexConfig* index = parts.config->find_index(task.request.index);
    std::vector<std::string> names{task.request.index};
    if (index != nullptr && !index->staging.empty()) names.push_back(index->staging);
    std::vector<BuildReport> builds;
    for (const std::string& name : names) {
        const auto some = parts.builds->list(name, task.request.package);
        if (!some) continue;
        for (const tasks::KeptBuild& build : *some) {
            if (!answers(build.report, task.request) || build.report.began < task.asked) continue;
            if (builds.size() == max_builds_of_request) break;
            builds.push_back(build.report);
        }
    }
    return builds;
}

Reply render_request(const ApiParts& parts, const ReadRequest& read) {
    const auto public_text = [&](const std::string& text) {
        return read.may_approve ? text : without_agent_paths(text);
    };
    ShownRequest shown{.task = read.task};
    add_queue(parts, shown);
    Task& task = shown.task;
    if (task.state == TaskState::failed) shown.may_retry = read.may_retry;
    task.reason = public_text(read.has_logs ? task.reason : public_reason(task));
    if (!read.has_logs) {
        task.asked_by.clear();
        task.approved_by.clear();
        task.agent.clear();
    }
    const auto outcome = wire::parse_outcome(task.outcome.render());
    if (outcome && outcome->diagnosis) {
        const wire::Diagnosis& why = *outcome->diagnosis;
        const bool has_line = read.has_logs && !why.first_error.empty();
        shown.cause = public_text(why.error.sentence + (has_line ? " [" + why.first_error + "]" : ""));
        shown.remedy = public_text(why.error.advice);
        shown.rule = why.cause;
    }
    if (parts.builds != nullptr) shown.builds = builds_at(parts, read.task);
    return reply_with(shown_request_record.write(shown));
}

Reply show_request(const ApiParts& parts, const Call& call, const RequestOf& of) {
    const auto found = read_request(parts, call, of);
    if (!found) return tl::unexpected(found.error());
    return render_request(parts, *found);
}

// With a token that may add tasks it is one of those; without, it awaits an approval.
Reply ask_for_wheel(const ApiParts& parts, const Call& call, const RequestsOf& of) {
    const auto index = index_to_read(parts.config, call.caller, of.index, {});
    if (!index) return tl::unexpected(index.error());
    if (!(*index)->may_strangers_ask) {
        if (!call.caller) return tl::unexpected(parts.tokens.verify({}).error());
        return refuse("auth.scope_refused",
                      "Only tokens with the action `task` may ask for wheels of this index", call.who().id,
                      "ask with POST /api/v1/tasks and such a token");
    }
    const auto wanted = wire::parse_task_request(call.request.body, (*index)->name);
    if (!wanted) return refuse_request(call, wanted.error());
    if (wanted->index != (*index)->name || wanted->source)
        return refuse("task.wish", "A request without a token names the index of its address and no source",
                      wanted->index, "leave `source` out, or use a token with the action `task`");
    if (const auto open = check_takes_builds(parts.config, **index); !open)
        return refuse_request(call, open.error());
    const auto asked = parts.tasks->ask(*wanted, stranger_name(call.request.client));
    if (!asked) return refuse_request(call, asked.error());
    io::log_info("request.asked", {{"request", call.request.request_id},
                                   {"task", asked->task.id},
                                   {"index", wanted->index},
                                   {"package", wanted->package}});
    if (parts.sites != nullptr) parts.sites->show_requests(wanted->index);
    return render_request(parts,
                          {asked->task, may_read_logs(parts.config, call.caller, **index, wanted->package),
                           may_approve(call, asked->task)});
}

constexpr Right of_request_readers{.callers = Callers::everyone, .advice = "`read` for the project"};

constexpr std::array request_rows{
    row<of_wheel, ask_for_wheel>(
        open_to_all(posted("/api/v1/indexes/{index}/requests", "askForWheel", request_document,
                           "Requests the build of a wheel without a token, where the index permits "
                           "it; it awaits an approval",
                           http::BodyKind::document, "wheelyard.task/1")),
        "task.body",
        {.callers = Callers::everyone,
         .advice = "nobody: see `POST /api/v1/tasks`",
         .where = "of an index without `ask = \"anyone\"`"},
        Stores::yes),
    row<of_request, show_request>(
        open_to_all(got("/api/v1/indexes/{index}/requests/{task}", "showRequest", request_document,
                        "Returns what everybody may see of a request: state, cause, place in the "
                        "queue")),
        "task.query", of_request_readers),
};

}  // namespace

std::span<const OperationRow> request_operations() {
    return request_rows;
}

}  // namespace wheelyard::registry
