#include "registry/api/task_api.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lib/io/log.hpp"
#include "lib/store/tasks/limits.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/documents.hpp"
#include "lib/wire/outcome.hpp"
#include "lib/wire/task.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/person.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/refusal.hpp"
#include "registry/intake/uploaded_source.hpp"
#include "registry/intake/uploads.hpp"

namespace wheelyard::registry {
namespace {

using io::field;
using io::Need;

tl::unexpected<wire::Problem> fail_task(const Call& call, const base::Error& error) {
    return fail_call(call, "task.refused", error, problem_of_task);
}

status::RequestReport report_of(const wire::Task& task) {
    return {.id = task.id,
            .package = task.request.package,
            .version = task.request.version,
            .python = task.request.python,
            .accelerator = task.request.accelerator,
            .state = std::string(wire::task_state_text(task.state)),
            .reason = without_agent_paths(public_reason(task)),
            .asked = task.asked,
            .ended = wire::is_over(task.state) ? task.changed : 0};
}

void log_done(const Call& call, const wire::Task& task) {
    if (!call.is_local)
        io::log_info("task.done", {{"request", call.request.request_id},
                                   {"token", call.who().id},
                                   {"operation", std::string(call.operation.id)},
                                   {"task", task.id},
                                   {"index", task.request.index},
                                   {"package", task.request.package},
                                   {"version", task.request.version},
                                   {"state", std::string(wire::task_state_text(task.state))}});
}

constexpr std::array<std::string_view, 3> task_readers{task_action, approve_action, build_action};

// Tokens that may add such tasks, approve them or build them may read them.
bool may_see(const Identity& token, const wire::TaskRequest& wanted) {
    return std::any_of(task_readers.begin(), task_readers.end(), [&](std::string_view action) {
        return allows(token, wanted.index, wanted.package, action);
    });
}

// may_see() as a filter of the queue.
tasks::TaskFilter visible_to(const Identity& token) {
    const auto named = [](const std::vector<std::string>& scope) -> std::optional<std::vector<std::string>> {
        if (std::find(scope.begin(), scope.end(), "*") != scope.end()) return std::nullopt;
        return scope;
    };
    tasks::TaskFilter filter;
    filter.indexes = named(token.indexes);
    filter.packages = named(token.projects);
    const auto actions = named(token.actions);
    const bool reads = !actions || std::any_of(actions->begin(), actions->end(), [](const auto& action) {
        return std::find(task_readers.begin(), task_readers.end(), action) != task_readers.end();
    });
    if (!reads) filter.indexes.emplace();
    return filter;
}

// Says whether the token speaks for this site; one that is bound to no site may for any.
bool may_be(std::string_view site, const Identity& token) {
    const std::string_view own = site_bound_to(token);
    return own.empty() || own == site;
}

tl::unexpected<wire::Problem> refuse_query(std::string_view name) {
    return refuse("task.query", "Invalid query parameter", std::string(name),
                  "see docs/reference/task.md for the parameters");
}

}  // namespace

wire::Problem problem_of_task(const base::Error& error) {
    if (auto known = problem_of_request(error)) return *std::move(known);
    return problem_of_failure(error, Attempted::task);
}

base::Status check_takes_builds(const RegistryConfig& config, const IndexConfig& index) {
    WHEELYARD_TRY(check_not_archived(index));
    const IndexConfig* target = config.find_index(target_of(index));
    return target == nullptr ? base::Status() : check_not_archived(*target);
}

bool answers(const status::BuildReport& build, const wire::TaskRequest& wanted) {
    return build.package == wanted.package && wire::meets_version(build.version, wanted.version) &&
           build.python == wanted.python &&
           (wanted.accelerator.empty() || build.accelerator == wanted.accelerator) &&
           (!wanted.source || build.source_sha256.empty() || build.source_sha256 == wanted.source->sha256);
}

bool may_retry(const std::optional<Identity>& caller, const std::string& index, const std::string& package) {
    return caller && allows(*caller, index, package, approve_action) &&
           allows(*caller, index, package, task_action);
}

base::Status check_stays_private(const RegistryConfig& config, const wire::TaskRequest& wanted) {
    if (!wanted.source || !config.is_private(wanted.source->index) || config.is_private(wanted.index))
        return {};
    return wire::fail(
        "task.would_publish", "Only tokens may read the source's index, and everyone may read the wheel's",
        wanted.source->index, "name a private index for the wheel, or upload the source to a public one",
        base::Recovery::person);
}

std::string public_reason(const wire::Task& task) {
    const bool is_too_late = task.reason.starts_with("rejected:");  // nobody decided
    if (task.state != wire::TaskState::cancelled || is_too_late) return task.reason;
    return task.reason.starts_with("rejected") ? "an operator refused it" : "it was cancelled";
}

std::vector<status::RequestReport> shown_requests(tasks::TaskStore& tasks, const std::string& index) {
    std::vector<status::RequestReport> shown;
    const auto add = [&](const base::Result<std::vector<wire::Task>>& found) {
        if (!found) {
            io::log_warn("tasks.not_shown", {{"index", index}, {"error", found.error().text()}});
            return false;
        }
        for (const wire::Task& task : *found) {
            if (shown.size() < status::max_requests_per_index) shown.push_back(report_of(task));
        }
        return true;
    };
    for (const auto state :
         {wire::TaskState::claimed, wire::TaskState::queued, wire::TaskState::awaits_approval}) {
        tasks::TaskFilter filter;
        filter.index = index;
        filter.state = state;
        if (!add(tasks.list(filter, {}, status::max_requests_per_index))) return shown;
    }
    static_cast<void>(add(tasks.lately_ended(index)));
    return shown;
}

namespace {

struct OneTask {
    std::string task;
};
struct EndedTask {
    std::string task;
    std::string reason;
};
// Another word is refused by the function.
struct TaskStateWord : io::Plain<std::string> {
    static std::string type() { return "one of awaits_approval, queued, claimed, done, failed, cancelled"; }
};
struct TasksWanted {
    std::string index;
    std::string state;
    std::string after;
    std::int64_t limit = 0;  // 0: as many as one reply has
};
struct LogWanted {
    std::string task;
    std::int64_t offset = 0;  // bytes
};
constexpr auto of_task =
    arguments<OneTask>({in_path(field<&OneTask::task>("task", "Its ID, as `task list` shows it"))});
constexpr auto of_ended_task = arguments<EndedTask>({
    in_path(field<&EndedTask::task>("task", "Its ID, as `task list` shows it")),
    in_body(field<&EndedTask::reason>("reason", "The reason in one line", Need::valid)),
});
constexpr auto of_tasks = arguments<TasksWanted>({
    in_query(field<&TasksWanted::index>("index", "Only of this index")),
    in_query(field<TaskStateWord, &TasksWanted::state>("state", "Only in this state")),
    in_query(field<&TasksWanted::after>("after", "Only after this task")),
    in_query(field<&TasksWanted::limit>("limit", "At most so many")),
});
constexpr auto of_task_log = arguments<LogWanted>({
    in_path(field<&LogWanted::task>("task", "Its ID, as `task list` shows it")),
    in_query(field<&LogWanted::offset>("offset", "Where in the log to begin, in bytes")),
});

// Documents of lib/wire, which reads them.
constexpr auto of_task_request = arguments<NoArguments>({
    in_document("index", "The index whose site should build it", true),
    in_document("package", "One project", true),
    in_document("version", "One exact version", true),
    in_document("python", "`3.11`", true),
    in_document("accelerator", "One of the site's accelerators"),
    in_document("source", "An uploaded source distribution", false, object_type),
});
constexpr auto of_task_requests =
    arguments<NoArguments>({in_document("tasks", "As `POST /tasks` has them", true, objects_type)});
constexpr auto of_claim = arguments<NoArguments>({
    in_document("index", "The index whose tasks it takes", true),
    in_document("agent", "The name of the agent: SITE.HOST", true),
    in_document("pythons", "`3.11`, …", false, texts_type),
    in_document("accelerators", "Names in the site file", false, texts_type),
    in_document("packages", "Absent: any", false, texts_type),
    in_document("tasks", "Those that it works at", false, texts_type),
    in_document("agents", "Other names under which it asked for them", false, texts_type),
    in_document("room", "How many more it would take", false, &io::Plain<std::int64_t>::type),
    in_document("uploaded_sources", "Whether it builds uploaded sources", false, object_type),
});
constexpr auto of_outcome = arguments<OneTask>({
    in_path(field<&OneTask::task>("task", "Its ID, as `task list` shows it")),
    in_document<OneTask>("attempt", "The build that it is of", true),
    in_document<OneTask>("site", "The site that has the task", true),
    in_document<OneTask>("result", "How it ended", true),
});

void note_done(const ApiParts& parts, const Call& call, const wire::Task& task) {
    log_done(call, task);
    if (parts.sites != nullptr) parts.sites->show_requests(task.request.index);
}

// The build that has the task's log is of the site that claimed the task last: the one that its outcome names,
// or else the newest at this wheel. nullopt: that site reports none.
base::Result<std::optional<tasks::BuildKey>> build_of(const ApiParts& parts, const wire::Task& task) {
    const std::string& index = task.request.index;
    const std::string_view site = wire::site_of_agent(task.agent);
    // Nobody reads another site's log by naming it.
    if (const auto outcome = wire::parse_outcome(task.outcome.render()); outcome && outcome->site == site) {
        const tasks::BuildKey key{index, outcome->site, outcome->attempt};
        WHEELYARD_ASSIGN(const auto named, parts.builds->find(key));
        if (named && named->report.package == task.request.package) return key;
    }
    WHEELYARD_ASSIGN(const auto builds, parts.builds->list(index, task.request.package));
    const status::BuildReport* newest = nullptr;
    for (const tasks::KeptBuild& build : builds) {
        const status::BuildReport& report = build.report;
        const bool is_of_task = report.site == site && answers(report, task.request) &&
                                (report.began >= task.asked || !status::is_over(report));
        if (is_of_task && (newest == nullptr || report.began > newest->began)) newest = &report;
    }
    if (newest == nullptr) return std::nullopt;
    return tasks::BuildKey{index, newest->site, newest->id};
}

// What the registry adds to a task.
struct BesideTask {
    std::optional<tasks::BuildKey> build = {};
    std::string nobody_takes = {};
};
constexpr auto build_key_record = io::record<tasks::BuildKey>({
    field<&tasks::BuildKey::site>("site", "the site that builds"),
    field<&tasks::BuildKey::id>("id", "the ID of the build"),
});
constexpr auto beside_task_record = io::record<BesideTask>({
    field<io::Nested<build_key_record>, &BesideTask::build>(
        "build", "its latest build, where a site reports one", Need::optional, io::Written::unless_null),
    field<&BesideTask::nobody_takes>("nobody_takes", "of a queued task: why no site takes it", Need::optional,
                                     io::Written::if_given),
});
io::Document task_document() {
    io::Document task = wire::task_document();
    task.tables.emplace_back(beside_task_record.members);
    return task;
}

io::Json json_of(const ApiParts& parts, const wire::Task& task) {
    BesideTask beside;
    if (!task.agent.empty()) beside.build = build_of(parts, task).value_or(std::nullopt);
    if (parts.sites != nullptr && task.state == wire::TaskState::queued && task.reason.empty())
        beside.nobody_takes = parts.sites->why_nobody_takes(task.request.index, report_of(task));
    io::Json json = wire::task_json(task);
    beside_task_record.write_into(json, beside);
    return json;
}

constexpr auto refused_task_record =
    io::record_of<io::Json, io::Rendered<wire::problem_document>>("problem", "why this one is refused");
io::Document added_document() {
    io::Document task = task_document();
    task.other = io::document_of<refused_task_record>;
    return task;
}
constexpr auto added_record = io::record_of<std::vector<io::Json>, io::ListOf<io::Rendered<added_document>>>(
    "tasks", "each a task or its problem, in the order of the request", "wheelyard.added_tasks/1");

wire::Answered<wire::Task> visible_task(const ApiParts& parts, const Call& call, std::string_view id) {
    auto task = parts.tasks->find(id);
    if (!task) return fail_task(call, task.error());
    if (may_see(call.who(), task->request)) return *std::move(task);
    return fail_task(call,
                     // The words of TaskStore for an id that does not exist.
                     {"task.no_such_task", "There is no task with this id", task->id,
                      "see `wheelyard-registry task list`", base::Recovery::never, base::ErrorKind::missing});
}

wire::Answered<wire::Task> task_for(const ApiParts& parts, const Call& call, std::string_view of_task,
                                    std::string_view action) {
    auto task = visible_task(parts, call, of_task);
    if (!task || action.empty() || allows(call.who(), task->request.index, task->request.package, action))
        return task;
    return refuse("auth.scope_refused", "This token does not permit this action on tasks", call.who().id,
                  "ask an administrator for a token with the action `" + std::string(action) + "`");
}

wire::Answered<wire::TaskRequest> with_source(const ApiParts& parts, const Call& call,
                                              wire::TaskRequest wanted) {
    if (!wanted.source) return wanted;
    const std::string index = wanted.source->index;
    if (parts.config->find_index(index) == nullptr ||
        !may_read(parts.config, call.who(), index, wanted.package))
        return unknown_index(parts.config, index);
    if (const auto stays = check_stays_private(parts.config, wanted); !stays)
        return fail_task(call, stays.error());
    base::Result<wire::TaskRequest> whole = std::move(wanted);
    const auto read = parts.writer.run([&whole](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(whole, resolve_source(*std::move(whole), catalog));
        return {};
    });
    if (!read) return fail_task(call, read.error());
    return *std::move(whole);
}

wire::Answered<wire::Task> add_one(const ApiParts& parts, const Call& call, std::string_view body) {
    const auto wanted = wire::parse_task_request(body);
    if (!wanted) return fail_task(call, wanted.error());
    if (!allows(call.who(), wanted->index, wanted->package, task_action))
        return refuse("auth.scope_refused", "This token does not permit adding this task", call.who().id,
                      "ask an administrator for a token with the action `task` for this index and project");
    const IndexConfig* index = parts.config->find_index(wanted->index);
    if (index == nullptr) return unknown_index(parts.config, wanted->index);
    if (const auto open = check_takes_builds(parts.config, *index); !open)
        return fail_task(call, open.error());
    const auto whole = with_source(parts, call, *wanted);
    if (!whole) return tl::unexpected(whole.error());
    const auto added = parts.tasks->add(*whole, call.who().name);
    if (!added) return fail_task(call, added.error());
    note_done(parts, call, added->task);
    return added->task;
}

wire::Answered<wire::Task> task_to_approve(const ApiParts& parts, const Call& call,
                                           std::string_view of_task) {
    auto task = task_for(parts, call, of_task, approve_action);
    if (!task || call.is_local || !is_same_actor(task->asked_by, call.who().name)) return task;
    return refuse("task.own_request", "Another identity must approve what this one asked for", task->id,
                  "use a token of another name");
}

base::Result<bool> has_wheel(const ApiParts& parts, std::vector<std::string> places,
                             const wire::Outcome& outcome) {
    for (std::size_t at = 0; at < places.size(); ++at) {  // the loop appends each inherited index once
        WHEELYARD_ASSIGN(const auto row, parts.writer.find_file(places[at], outcome.wheel.filename));
        if (row && row->sha256 == outcome.wheel.sha256) return true;
        const IndexConfig* index = parts.config->find_index(places[at]);
        if (index == nullptr) continue;
        for (const std::string& parent : index->inherits) {
            if (std::find(places.begin(), places.end(), parent) == places.end()) places.push_back(parent);
        }
    }
    return false;
}

// Only an end is final: a task that is free now may be its site's again before end() looks.
wire::Answered<void> check_done(const ApiParts& parts, const Call& call, const wire::Task& task,
                                const wire::Outcome& outcome) {
    if (wire::is_over(task.state)) return {};  // end() checks whether the outcome is the same
    const IndexConfig* index = parts.config->find_index(task.request.index);
    const std::string target = index == nullptr ? task.request.index : target_of(*index);
    const auto name = wheel::parse_wheel_filename(outcome.wheel.filename);
    const bool is_asked_for = name && name->project == task.request.package &&
                              wire::meets_version(name->version.text(), task.request.version);
    if (is_asked_for && !wire::meets_python(name->tags, task.request.python))
        return refuse("task.no_such_wheel",
                      "The wheel of this outcome does not match the task's Python version",
                      outcome.wheel.filename, "build it with Python " + task.request.python);
    const auto there =
        is_asked_for ? has_wheel(parts, {target, task.request.index}, outcome) : base::Result<bool>(false);
    if (!there) return fail_task(call, there.error());
    if (*there) return {};
    return refuse("task.no_such_wheel", "The index does not have the wheel of this outcome",
                  outcome.wheel.filename, "upload it, then send the outcome");
}

Reply add_task(const ApiParts& parts, const Call& call, const NoArguments&) {
    const auto task = add_one(parts, call, call.request.body);
    if (!task) return tl::unexpected(task.error());
    return reply_with(json_of(parts, *task));
}

Reply add_tasks(const ApiParts& parts, const Call& call, const NoArguments&) {
    const auto document = io::parse_json(call.request.body);
    const bool is_list = document && document->string_or("format", "") == task_list_format;
    const std::size_t count = is_list ? document->items("tasks").size() : 0;
    if (count == 0 || count > wire::max_tasks_added)
        return refuse("task.body", "The body is not a list of tasks", std::to_string(count),
                      "send {\"format\":\"" + std::string(task_list_format) + "\",\"tasks\":[…]} with 1 to " +
                          std::to_string(wire::max_tasks_added) + " tasks");
    std::vector<io::Json> added;
    for (const io::Json& wanted : document->items("tasks")) {
        const auto task = add_one(parts, call, wanted.render());
        added.push_back(task ? json_of(parts, *task)
                             : refused_task_record.write(wire::problem_to_json(task.error())));
    }
    return reply_with(added_record.write(added));
}

Reply list_tasks(const ApiParts& parts, const Call& call, const TasksWanted& of) {
    tasks::TaskFilter filter = visible_to(call.who());
    filter.index = of.index;
    if (!of.state.empty()) {
        filter.state = wire::parse_task_state(of.state);
        if (!filter.state) return refuse_query("state");
    }
    const auto max_count = static_cast<std::int64_t>(tasks::max_tasks_returned);
    const auto count = static_cast<std::size_t>(of.limit == 0 ? max_count : std::min(of.limit, max_count));
    if (!of.after.empty()) {
        if (auto known = visible_task(parts, call, of.after); !known)
            return tl::unexpected(std::move(known.error()));
    }
    const auto tasks = parts.tasks->list(filter, of.after, count);
    if (!tasks) return fail_task(call, tasks.error());
    return reply_with(wire::render_tasks(*tasks));
}

Reply show_task(const ApiParts& parts, const Call& call, const OneTask& of) {
    auto task = task_for(parts, call, of.task, {});
    if (!task) return tl::unexpected(std::move(task.error()));
    return reply_with(json_of(parts, *task));
}

Reply cancel_task(const ApiParts& parts, const Call& call, const EndedTask& of) {
    auto task = task_for(parts, call, of.task, task_action);
    if (!task) return tl::unexpected(std::move(task.error()));
    // People cancel what they asked for; those who approve tasks may cancel those of others.
    const bool is_own = !is_person(call.who().name) || is_same_actor(task->asked_by, call.who().name);
    if (!is_own && !allows(call.who(), task->request.index, task->request.package, approve_action))
        return refuse("auth.scope_refused", "Somebody else asked for this wheel", task->id,
                      "ask them, or somebody with the action `approve`");
    const auto cancelled = parts.tasks->cancel(task->id, call.who().name, of.reason);
    if (!cancelled) return fail_task(call, cancelled.error());
    note_done(parts, call, *cancelled);
    return reply_with(wire::task_json(*cancelled));
}

Reply approve_task(const ApiParts& parts, const Call& call, const EndedTask& of) {
    auto task = task_to_approve(parts, call, of.task);
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto approved = parts.tasks->approve(task->id, call.who().name);
    if (!approved) return fail_task(call, approved.error());
    note_done(parts, call, *approved);
    return reply_with(wire::task_json(*approved));
}

Reply reject_task(const ApiParts& parts, const Call& call, const EndedTask& of) {
    auto task = task_to_approve(parts, call, of.task);
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto rejected = parts.tasks->reject(task->id, call.who().name, of.reason);
    if (!rejected) return fail_task(call, rejected.error());
    note_done(parts, call, *rejected);
    return reply_with(wire::task_json(*rejected));
}

Reply claim_task(const ApiParts& parts, const Call& call, const NoArguments&) {
    const auto offer = wire::parse_claim(call.request.body);
    if (!offer) return fail_task(call, offer.error());
    if (!allows(call.who(), offer->index, {}, build_action))
        return refuse("auth.scope_refused", "This token does not permit claiming tasks of this index",
                      call.who().id,
                      "ask an administrator for a token with the action `build` for this index");
    const std::string_view site = wire::site_of_agent(offer->agent);
    const bool names_no_host = site == offer->agent && !site_bound_to(call.who()).empty();
    if (names_no_host || !may_be(site, call.who()))
        return refuse("task.other_site", "This agent enrolled for another site", offer->agent,
                      "claim as SITE.HOST, with the site that the administrator named");
    const IndexConfig* index = parts.config->find_index(offer->index);
    if (index == nullptr) return unknown_index(parts.config, offer->index);
    if (const auto open = check_takes_builds(parts.config, *index); !open)
        return fail_task(call, open.error());
    const base::UnixMicros asked = parts.clock.now();
    auto claimed = parts.tasks->claim(*offer, holder_of(call.who()), [&call](const wire::Task& task) {
        return allows(call.who(), task.request.index, task.request.package, build_action);
    });
    if (!claimed) return fail_task(call, claimed.error());
    for (const wire::Task& task : *claimed) {
        if (task.changed >= asked) note_done(parts, call, task);  // else it had the task before
    }
    return reply_with(
        wire::render_claimed({target_of(*index), parts.config->tasks.lease_s, *std::move(claimed)}));
}

Reply read_task_log(const ApiParts& parts, const Call& call, const LogWanted& of) {
    auto task = task_for(parts, call, of.task, {});
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto build = build_of(parts, *task);
    if (!build) return fail_task(call, build.error());
    http::ApiReply answer;
    answer.text.emplace();
    if (!*build) return answer;
    auto log = parts.builds->read_log(**build, of.offset);
    if (!log) return fail_task(call, log.error());
    answer.text = *std::move(log);
    return answer;
}

Reply end_task(const ApiParts& parts, const Call& call, const OneTask& of) {
    auto task = task_for(parts, call, of.task, build_action);
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto outcome = wire::parse_outcome(call.request.body);
    if (!outcome)
        return refuse("task.body", outcome.error().sentence, outcome.error().value,
                      "see docs/reference/task.md");
    if (!may_be(outcome->site, call.who()))
        return refuse("task.other_site", "This agent enrolled for another site", outcome->site,
                      "send the outcome of a build of its own site");
    if (outcome->done) {
        if (auto proven = check_done(parts, call, *task, *outcome); !proven)
            return tl::unexpected(std::move(proven.error()));
    }
    const auto ended = parts.tasks->end(task->id, *outcome, holder_of(call.who()));
    if (!ended) return fail_task(call, ended.error());
    note_done(parts, call, *ended);
    return reply_with(wire::task_json(*ended));
}

constexpr std::string_view task_change_format = "wheelyard.change/1";
constexpr wire::Refusal malformed_task{"task.body"};
constexpr wire::Refusal malformed_task_query{"task.query"};
constexpr wire::Refusal malformed_task_change{"lifecycle.body"};
// Whoever else asks gets the answer for a task that is not there.
constexpr Right of_task_readers{
    .action = task_action,
    .advice = "the action `task`, `approve` or `build` for the task's index and project"};
using http::BodyKind;

constexpr std::array task_rows{
    row<of_task_request, add_task>(
        posted("/api/v1/tasks", "addTask", task_document,
               "Requests the build of a wheel; returns the existing task if there is one", BodyKind::document,
               "wheelyard.task/1"),
        malformed_task, {.action = task_action}, Stores::yes),
    row<of_task_requests, add_tasks>(
        posted("/api/v1/tasks/add", "addTasks", io::document_of<added_record>,
               "Requests the builds of several wheels; each is answered by its task or its problem",
               BodyKind::document, task_list_format),
        malformed_task, {.action = task_action}, Stores::yes),
    row<of_tasks, list_tasks>(got("/api/v1/tasks", "listTasks", wire::tasks_document,
                                  "Lists tasks in the order of their requests, without outcomes"),
                              malformed_task_query),
    row<of_claim, claim_task>(posted("/api/v1/tasks/claim", "claimTask", wire::claimed_document,
                                     "Gives a site the tasks that fit, and returns all that it has; asked at "
                                     "each tick, it is its sign "
                                     "of life",
                                     BodyKind::document, "wheelyard.claim/2"),
                              malformed_task,
                              {.action = build_action, .advice = "the action `build` for this index"}),
    row<of_task, show_task>(got("/api/v1/tasks/{task}", "showTask", task_document,
                                "Returns a task, with its outcome once it has one"),
                            malformed_task_query, of_task_readers),
    row<of_ended_task, cancel_task>(
        posted("/api/v1/tasks/{task}/cancel", "cancelTask", task_document,
               "Cancels a task; its site no longer has it", BodyKind::json, task_change_format),
        malformed_task_change,
        {.action = task_action,
         .advice = "the action `task` for the task's index and project; of a person `approve`, too, for what "
                   "somebody else asked"}),
    row<of_ended_task, approve_task>(posted("/api/v1/tasks/{task}/approve", "approveTask", task_document,
                                            "Approves a task that awaits it, which agents may then claim",
                                            BodyKind::document, task_change_format),
                                     malformed_task_change, {.action = approve_action}),
    row<of_ended_task, reject_task>(
        posted("/api/v1/tasks/{task}/reject", "rejectTask", task_document,
               "Rejects a task that awaits an approval", BodyKind::json, task_change_format),
        malformed_task_change, {.action = approve_action}),
    row<of_task_log, read_task_log>(with_text(got("/api/v1/tasks/{task}/log", "readTaskLog", nullptr,
                                                  "Returns the log of a task's latest build (?offset=…)")),
                                    malformed_task_query, of_task_readers),
    row<of_outcome, end_task>(
        posted("/api/v1/tasks/{task}/outcome", "endTask", task_document,
               "Ends a claimed task with its outcome", BodyKind::document, "wheelyard.outcome/1"),
        malformed_task, {.action = build_action}),
};

}  // namespace

std::span<const OperationRow> task_operations() {
    return task_rows;
}

}  // namespace wheelyard::registry
