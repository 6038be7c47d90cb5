#include "registry/api/task_api.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wire/task.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/person.hpp"
#include "registry/api/limits.hpp"
#include "registry/api/query.hpp"
#include "registry/api/readers.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/refusal.hpp"
#include "registry/intake/uploaded_source.hpp"
#include "registry/intake/uploads.hpp"
#include "registry/lifecycle/action.hpp"
#include "registry/tasks/limits.hpp"

namespace wheelyard::registry {
namespace {

tl::unexpected<wire::Problem> fail(const http::ApiRequest& request, const Identity& token,
                                   const base::Error& error) {
    wire::Problem problem = problem_of_task(error);
    io::log_warn("task.refused", {{"request", request.request_id},
                                  {"operation", std::string(request.operation)},
                                  {"token", token.id},
                                  {"status", std::to_string(problem.status)},
                                  {"error", error.text()}});
    return tl::unexpected(std::move(problem));
}

status::RequestReport report_of(const wire::Task& task) {
    return {.id = task.id,
            .package = task.request.package,
            .version = task.request.version,
            .python = task.request.python,
            .accelerator = task.request.accelerator,
            .state = std::string(wire::task_state_text(task.state)),
            .reason = task.reason,
            .asked = task.asked};
}

void log_done(const http::ApiRequest& request, const Identity& token, const wire::Task& task) {
    io::log_info("task.done", {{"request", request.request_id},
                               {"operation", std::string(request.operation)},
                               {"token", token.id},
                               {"task", task.id},
                               {"index", task.request.index},
                               {"package", task.request.package},
                               {"version", task.request.version},
                               {"state", std::string(wire::task_state_text(task.state))}});
}

http::ApiReply reply(std::string json) {
    return {.status = 200, .json = std::move(json)};
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

// A number in the query; 0 if absent, nullopt if it is not a number.
std::optional<std::int64_t> number_of(const http::ApiRequest& request, std::string_view name) {
    const auto text = query_value(request.query, name);
    if (!text) return 0;
    const auto number = base::parse_decimal(*text);
    if (!number || *number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

io::Json problem_json(const wire::Problem& problem) {
    return io::Json::object({{"status", problem.status},
                             {"code", problem.code},
                             {"detail", problem.detail},
                             {"value", problem.value},
                             {"advice", problem.advice}});
}

// Whether the token's agent has this name, SITE.HOST; a token that is bound to no site may have any. Names of sites may have
// dots, that of the host has none: `bede` is not `bede.gh200`.
bool may_be(const std::string& agent, const Identity& token) {
    const std::string_view site = site_bound_to(token);
    return site.empty() || (agent.starts_with(std::string(site) + ".") && agent.rfind('.') == site.size());
}

tl::unexpected<wire::Problem> refuse_query(std::string_view name) {
    return refuse("task.query", "Invalid query parameter", std::string(name),
                  "see docs/reference/task.md for the parameters");
}

}  // namespace

struct TaskApi::Row {
    std::string_view operation;
    Handler handler;
    bool stores = false;  // what its caller sends; refused while the disk is low
};

const TaskApi::Row* TaskApi::find_row(std::string_view operation) {
    static constexpr std::array<Row, 12> rows{{{"addTask", &TaskApi::add, true},
                                               {"addTasks", &TaskApi::add_many, true},
                                               {"listTasks", &TaskApi::list},
                                               {"showTask", &TaskApi::show},
                                               {"cancelTask", &TaskApi::cancel},
                                               {"approveTask", &TaskApi::approve},
                                               {"rejectTask", &TaskApi::reject},
                                               {"claimTask", &TaskApi::claim},
                                               {"renewLease", &TaskApi::renew},
                                               {"appendTaskLog", &TaskApi::append_log, true},
                                               {"readTaskLog", &TaskApi::read_log},
                                               {"endTask", &TaskApi::end}}};
    const auto* found = std::find_if(rows.begin(), rows.end(),
                                     [operation](const Row& row) { return row.operation == operation; });
    return found == rows.end() ? nullptr : found;
}

wire::Problem problem_of_task(const base::Error& error) {
    if (auto known = problem_of_request(error)) return *std::move(known);
    wire::Problem problem = problem_of_failure(error);
    problem.code = base::replace_all(problem.code, "upload.", "task.");
    problem.title = problem.status == 500 ? "The registry could not complete the request" : problem.title;
    problem.detail = "Internal error; see the server log for this request ID.";
    return problem;
}

std::string target_of(const IndexConfig& index) {
    return index.staging.empty() ? index.name : index.staging;
}

base::Status check_takes_builds(const RegistryConfig& config, const IndexConfig& index) {
    WHEELYARD_TRY(check_not_archived(index));
    const IndexConfig* target = config.find_index(target_of(index));
    return target == nullptr ? base::Status() : check_not_archived(*target);
}

base::Status check_stays_private(const RegistryConfig& config, const wire::TaskRequest& wanted) {
    if (!wanted.source || !config.is_private(wanted.source->index) || config.is_private(wanted.index))
        return {};
    return wire::fail(
        "task.would_publish", "Only tokens may read the source's index, and everyone may read the wheel's",
        wanted.source->index, "name a private index for the wheel, or upload the source to a public one",
        base::Recovery::person);
}

std::vector<status::RequestReport> open_requests(tasks::TaskStore& tasks, const std::string& index) {
    std::vector<status::RequestReport> open;
    for (const auto state :
         {wire::TaskState::claimed, wire::TaskState::queued, wire::TaskState::awaits_approval}) {
        tasks::TaskFilter filter;
        filter.index = index;
        filter.state = state;
        const auto found = tasks.list(filter, {}, status::max_requests_per_index);
        if (!found) {
            io::log_warn("tasks.not_shown", {{"index", index}, {"error", found.error().text()}});
            return open;
        }
        for (const wire::Task& task : *found) {
            if (open.size() < status::max_requests_per_index) open.push_back(report_of(task));
        }
    }
    return open;
}

void TaskApi::note_done(const http::ApiRequest& request, const Identity& token,
                        const wire::Task& task) const {
    log_done(request, token, task);
    if (parts_.sites != nullptr) parts_.sites->show_requests(task.request.index);
}

io::Json TaskApi::json_of(const wire::Task& task) const {
    io::Json json = wire::task_json(task);
    if (parts_.sites == nullptr || task.state != wire::TaskState::queued || !task.reason.empty()) return json;
    const std::string why = parts_.sites->why_nobody_takes(task.request.index, report_of(task));
    if (!why.empty()) json.set("nobody_takes", why);
    return json;
}

bool TaskApi::handles(std::string_view operation) {
    return find_row(operation) != nullptr;
}

wire::Answered<http::ApiReply> TaskApi::answer(const http::ApiRequest& request) {
    auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(std::move(token.error()));
    const Row* row = find_row(request.operation);
    if (row == nullptr)
        return refuse("request.operation", "The server does not know this operation",
                      std::string(request.operation), "upgrade the server");
    if (row->stores && !request.body.empty()) {
        if (auto room = parts_.config.room().check(request.body.size()); !room)
            return fail(request, *token, room.error());
    }
    return (this->*row->handler)(request, *token);
}

wire::Answered<wire::Task> TaskApi::visible_task(const http::ApiRequest& request, const Identity& token,
                                                 std::string_view id) {
    auto task = parts_.tasks.find(id);
    if (!task) return fail(request, token, task.error());
    if (may_see(token, task->request)) return *std::move(task);
    return fail(request, token,
                // The words of TaskStore for an id that does not exist.
                {"task.no_such_task", "There is no task with this id", task->id,
                 "see `wheelyard-registry task list`", base::Recovery::never, base::ErrorKind::missing});
}

wire::Answered<wire::Task> TaskApi::task_for(const http::ApiRequest& request, const Identity& token,
                                             std::string_view action) {
    auto task = visible_task(request, token, parameter(request, "task"));
    if (!task || action.empty() || allows(token, task->request.index, task->request.package, action))
        return task;
    return refuse("auth.scope_refused", "This token does not permit this action on tasks", token.id,
                  "ask an administrator for a token with the action `" + std::string(action) + "`");
}

TaskApi::Reply TaskApi::add(const http::ApiRequest& request, const Identity& token) {
    const auto task = add_one(request, token, request.body);
    if (!task) return tl::unexpected(task.error());
    return reply(json_of(*task).render());
}

TaskApi::Reply TaskApi::add_many(const http::ApiRequest& request, const Identity& token) {
    const auto document = io::parse_json(request.body);
    const bool is_list = document && document->string_or("format", "") == task_list_format;
    const std::size_t count = is_list ? document->items("tasks").size() : 0;
    if (count == 0 || count > max_tasks_added)
        return refuse("task.body", "The body is not a list of tasks", std::to_string(count),
                      "send {\"format\":\"" + std::string(task_list_format) + "\",\"tasks\":[…]} with 1 to " +
                          std::to_string(max_tasks_added) + " tasks");
    io::Json answers = io::Json::array();
    for (const io::Json& wanted : document->items("tasks")) {
        const auto task = add_one(request, token, wanted.render());
        if (task)
            answers.push(json_of(*task));
        else
            answers.push(io::Json::object({{"problem", problem_json(task.error())}}));
    }
    return reply(
        io::Json::object({{"format", "wheelyard.added_tasks/1"}, {"tasks", std::move(answers)}}).render());
}

wire::Answered<wire::Task> TaskApi::add_one(const http::ApiRequest& request, const Identity& token,
                                            std::string_view body) {
    const auto wanted = wire::parse_task_request(body);
    if (!wanted) return fail(request, token, wanted.error());
    if (!allows(token, wanted->index, wanted->package, task_action))
        return refuse("auth.scope_refused", "This token does not permit adding this task", token.id,
                      "ask an administrator for a token with the action `task` for this index and project");
    const IndexConfig* index = parts_.config.find_index(wanted->index);
    if (index == nullptr)
        return refuse("index.unknown", "There is no index with this name", wanted->index,
                      "GET / lists the indexes");
    if (const auto open = check_takes_builds(parts_.config, *index); !open)
        return fail(request, token, open.error());
    const auto whole = with_source(request, token, *wanted);
    if (!whole) return tl::unexpected(whole.error());
    const auto added = parts_.tasks.add(*whole, token.name);
    if (!added) return fail(request, token, added.error());
    note_done(request, token, added->task);
    return added->task;
}

wire::Answered<wire::TaskRequest> TaskApi::with_source(const http::ApiRequest& request, const Identity& token,
                                                       wire::TaskRequest wanted) {
    if (!wanted.source) return wanted;
    const std::string index = wanted.source->index;
    if (parts_.config.find_index(index) == nullptr || !may_read(parts_.config, token, index, wanted.package))
        return refuse("index.unknown", "There is no index with this name", index, "GET / lists the indexes");
    if (const auto stays = check_stays_private(parts_.config, wanted); !stays)
        return fail(request, token, stays.error());
    base::Result<wire::TaskRequest> whole = std::move(wanted);
    const auto read = parts_.writer.run([&whole](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(whole, resolve_source(*std::move(whole), catalog));
        return {};
    });
    if (!read) return fail(request, token, read.error());
    return *std::move(whole);
}

wire::Answered<wire::Task> TaskApi::task_to_approve(const http::ApiRequest& request, const Identity& token) {
    auto task = task_for(request, token, approve_action);
    if (!task || !is_same_actor(task->asked_by, token.name)) return task;
    return refuse("task.own_request", "Another identity must approve what this one asked for", task->id,
                  "use a token of another name");
}

TaskApi::Reply TaskApi::approve(const http::ApiRequest& request, const Identity& token) {
    auto task = task_to_approve(request, token);
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto approved = parts_.tasks.approve(task->id, token.name);
    if (!approved) return fail(request, token, approved.error());
    note_done(request, token, *approved);
    return reply(wire::task_json(*approved).render());
}

TaskApi::Reply TaskApi::reject(const http::ApiRequest& request, const Identity& token) {
    auto task = task_to_approve(request, token);
    if (!task) return tl::unexpected(std::move(task.error()));
    lifecycle::Action change;
    if (const auto read = lifecycle::read_body(request.body, change); !read)
        return fail(request, token, read.error());
    const auto rejected = parts_.tasks.reject(task->id, token.name, change.reason);
    if (!rejected) return fail(request, token, rejected.error());
    note_done(request, token, *rejected);
    return reply(wire::task_json(*rejected).render());
}

TaskApi::Reply TaskApi::list(const http::ApiRequest& request, const Identity& token) {
    tasks::TaskFilter filter = visible_to(token);
    filter.index = query_value(request.query, "index").value_or("");
    if (const auto state = query_value(request.query, "state"); state && !state->empty()) {
        filter.state = wire::parse_task_state(*state);
        if (!filter.state) return refuse_query("state");
    }
    const auto limit = number_of(request, "limit");
    if (!limit) return refuse_query("limit");
    const auto max_count = static_cast<std::int64_t>(tasks::max_tasks_returned);
    const auto count = static_cast<std::size_t>(*limit == 0 ? max_count : std::min(*limit, max_count));
    const std::string after = query_value(request.query, "after").value_or("");
    if (!after.empty()) {
        if (auto known = visible_task(request, token, after); !known)
            return tl::unexpected(std::move(known.error()));
    }
    const auto tasks = parts_.tasks.list(filter, after, count);
    if (!tasks) return fail(request, token, tasks.error());
    return reply(wire::render_tasks(*tasks));
}

TaskApi::Reply TaskApi::show(const http::ApiRequest& request, const Identity& token) {
    auto task = task_for(request, token, {});
    if (!task) return tl::unexpected(std::move(task.error()));
    return reply(json_of(*task).render());
}

TaskApi::Reply TaskApi::cancel(const http::ApiRequest& request, const Identity& token) {
    auto task = task_for(request, token, task_action);
    if (!task) return tl::unexpected(std::move(task.error()));
    // People cancel what they asked for; those who approve tasks may cancel those of others.
    const bool is_own = !is_person(token.name) || is_same_actor(task->asked_by, token.name);
    if (!is_own && !allows(token, task->request.index, task->request.package, approve_action))
        return refuse("auth.scope_refused", "Somebody else asked for this wheel", task->id,
                      "ask them, or somebody with the action `approve`");
    lifecycle::Action change;
    if (const auto read = lifecycle::read_body(request.body, change); !read)
        return fail(request, token, read.error());
    const auto cancelled = parts_.tasks.cancel(task->id, token.name, change.reason);
    if (!cancelled) return fail(request, token, cancelled.error());
    note_done(request, token, *cancelled);
    return reply(wire::task_json(*cancelled).render());
}

TaskApi::Reply TaskApi::claim(const http::ApiRequest& request, const Identity& token) {
    const auto offer = wire::parse_claim(request.body);
    if (!offer) return fail(request, token, offer.error());
    if (!allows(token, offer->index, {}, build_action))
        return refuse("auth.scope_refused", "This token does not permit claiming tasks of this index",
                      token.id, "ask an administrator for a token with the action `build` for this index");
    if (!may_be(offer->agent, token))
        return refuse("task.other_site", "This agent enrolled for another site", offer->agent,
                      "claim as SITE.HOST, with the site that the administrator named");
    const IndexConfig* index = parts_.config.find_index(offer->index);
    if (index == nullptr)
        return refuse("index.unknown", "There is no index with this name", offer->index,
                      "GET / lists the indexes");
    if (const auto open = check_takes_builds(parts_.config, *index); !open)
        return fail(request, token, open.error());
    if (auto holder = check_holder(request, token, offer->claim); !holder)
        return tl::unexpected(std::move(holder.error()));
    const TokenText text = make_token_text();
    const tasks::ClaimTerms terms{target_of(*index), token.id, text.id, hash_token_secret(text.secret)};
    const auto claimed = parts_.tasks.claim(*offer, terms, [&token](const wire::Task& task) {
        return allows(token, task.request.index, task.request.package, build_action);
    });
    if (!claimed) return fail(request, token, claimed.error());
    wire::Claimed answer;
    if (*claimed) {
        note_done(request, token, (*claimed)->task);
        answer = {.task = (*claimed)->task,
                  .index = (*claimed)->target_index,
                  .lease_s = parts_.config.tasks.lease_s,
                  .grant = TokenText{(*claimed)->grant_id, text.secret}.text()};
    }
    return reply(wire::render_claimed(answer));
}

TaskApi::Reply TaskApi::renew(const http::ApiRequest& request, const Identity& token) {
    auto task = task_for(request, token, build_action);
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto claim = wire::parse_lease_request(request.body);
    if (!claim) return fail(request, token, claim.error());
    if (auto holder = check_holder(request, token, *claim); !holder)
        return tl::unexpected(std::move(holder.error()));
    const auto lease = parts_.tasks.renew(task->id, *claim);
    if (!lease) return fail(request, token, lease.error());
    return reply(wire::render_lease(*lease));
}

TaskApi::Reply TaskApi::append_log(const http::ApiRequest& request, const Identity& token) {
    auto task = task_for(request, token, build_action);
    if (!task) return tl::unexpected(std::move(task.error()));
    const std::string claim = query_value(request.query, "claim").value_or("");
    const auto offset = number_of(request, "offset");
    if (!wire::is_claim_id(claim)) return refuse_query("claim");
    if (!offset) return refuse_query("offset");
    if (auto holder = check_holder(request, token, claim); !holder)
        return tl::unexpected(std::move(holder.error()));
    const auto lease = parts_.tasks.append_log(task->id, claim, *offset, request.body);
    if (!lease) return fail(request, token, lease.error());
    return reply(wire::render_lease(*lease));
}

TaskApi::Reply TaskApi::read_log(const http::ApiRequest& request, const Identity& token) {
    auto task = task_for(request, token, {});
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto offset = number_of(request, "offset");
    const auto attempt = number_of(request, "attempt");
    if (!offset) return refuse_query("offset");
    if (!attempt) return refuse_query("attempt");
    auto log = parts_.tasks.read_log(task->id, *attempt, *offset);
    if (!log) return fail(request, token, log.error());
    http::ApiReply answer;
    answer.text = *std::move(log);
    return answer;
}

TaskApi::Reply TaskApi::end(const http::ApiRequest& request, const Identity& token) {
    auto task = task_for(request, token, build_action);
    if (!task) return tl::unexpected(std::move(task.error()));
    const auto end = wire::parse_task_end(request.body);
    if (!end) return fail(request, token, end.error());
    if (auto holder = check_holder(request, token, end->claim); !holder)
        return tl::unexpected(std::move(holder.error()));
    if (end->outcome.done) {
        if (auto proven = check_done(request, token, *task, *end); !proven)
            return tl::unexpected(std::move(proven.error()));
    }
    const auto ended = parts_.tasks.end(task->id, *end);
    if (!ended) return fail(request, token, ended.error());
    note_done(request, token, *ended);
    return reply(wire::task_json(*ended).render());
}

wire::Answered<void> TaskApi::check_holder(const http::ApiRequest& request, const Identity& token,
                                           const std::string& claim) {
    if (site_bound_to(token).empty()) return {};
    const auto agent = parts_.tasks.claimed_by(claim);
    if (!agent) return fail(request, token, agent.error());
    if (!*agent || may_be(**agent, token)) return {};
    return refuse("task.no_such_claim", "An agent of another site made this claim", claim.substr(0, 8),
                  "claim the task first");
}

// Looks up the claim, not the task's state: otherwise a claim made between this check and end() would skip
// the check.
wire::Answered<void> TaskApi::check_done(const http::ApiRequest& request, const Identity& token,
                                         const wire::Task& task, const wire::TaskEnd& end) {
    const wire::Outcome& outcome = end.outcome;
    const auto target = parts_.tasks.target_index(task.id, end.claim);
    if (!target) return fail(request, token, target.error());
    if (!*target) return {};  // end() checks whether the outcome is the same
    const auto name = wheel::parse_wheel_filename(outcome.wheel.filename);
    const bool is_asked_for = name && name->project == task.request.package &&
                              wire::meets_version(name->version.text(), task.request.version);
    if (is_asked_for && !wire::meets_python(name->tags, task.request.python))
        return refuse("task.no_such_wheel",
                      "The wheel of this outcome does not match the task's Python version",
                      outcome.wheel.filename, "build it with Python " + task.request.python);
    const auto there =
        is_asked_for ? has_wheel({**target, task.request.index}, outcome) : base::Result<bool>(false);
    if (!there) return fail(request, token, there.error());
    if (*there) return {};
    return refuse("task.no_such_wheel", "The index does not have the wheel of this outcome",
                  outcome.wheel.filename, "upload it with the claim's grant, then send the outcome");
}

base::Result<bool> TaskApi::has_wheel(std::vector<std::string> places, const wire::Outcome& outcome) {
    for (std::size_t at = 0; at < places.size(); ++at) {  // the loop appends each inherited index once
        WHEELYARD_ASSIGN(const auto row, parts_.writer.find_file(places[at], outcome.wheel.filename));
        if (row && row->sha256 == outcome.wheel.sha256) return true;
        const IndexConfig* index = parts_.config.find_index(places[at]);
        if (index == nullptr) continue;
        for (const std::string& parent : index->inherits) {
            if (std::find(places.begin(), places.end(), parent) == places.end()) places.push_back(parent);
        }
    }
    return false;
}

}  // namespace wheelyard::registry
