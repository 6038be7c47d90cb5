#include "registry/api/request_api.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/wire/outcome.hpp"
#include "lib/wire/task.hpp"
#include "registry/api/limits.hpp"
#include "registry/api/query.hpp"
#include "registry/api/readers.hpp"
#include "registry/api/task_api.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

using wire::Task;
using wire::TaskState;

constexpr std::string_view ask_operation = "askForWheel";
constexpr std::string_view show_request_operation = "showRequest";
constexpr std::string_view read_request_log_operation = "readRequestLog";

tl::unexpected<wire::Problem> refuse_request(const http::ApiRequest& request, const base::Error& error) {
    wire::Problem problem = problem_of_task(error);
    io::log_warn("request.refused", {{"request", request.request_id},
                                     {"operation", std::string(request.operation)},
                                     {"status", std::to_string(problem.status)},
                                     {"error", error.text()}});
    return tl::unexpected(std::move(problem));
}

// Tells the clients of one run of the server apart, and says nothing of where they are.
std::string stranger_name(const std::string& client) {
    static const std::string salt = base::random_bytes(16);
    return std::string(tasks::stranger_prefix) + base::sha256_hex(salt + client).substr(0, 12);
}

// Names of persons are in reasons for an end that a person decided.
std::string public_reason(const Task& task) {
    if (task.state == TaskState::cancelled)
        return task.reason.starts_with("rejected") ? "an operator refused it" : "it was cancelled";
    return task.reason;
}

bool answers(const status::BuildReport& build, const wire::TaskRequest& wanted) {
    return build.package == wanted.package && wire::meets_version(build.version, wanted.version) &&
           build.python == wanted.python &&
           (wanted.accelerator.empty() || build.accelerator == wanted.accelerator);
}

}  // namespace

struct RequestApi::Read {
    Task task;
    bool has_logs = false;
};

bool RequestApi::handles(std::string_view operation) {
    return operation == ask_operation || operation == show_request_operation ||
           operation == read_request_log_operation;
}

wire::Answered<http::ApiReply> RequestApi::answer(const http::ApiRequest& request) {
    if (request.operation == ask_operation) return ask(request);
    return request.operation == show_request_operation ? show(request) : read_log(request);
}

wire::Answered<RequestApi::Read> RequestApi::read(const http::ApiRequest& request) {
    const auto caller = caller_of(parts_.tokens, request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    const std::string name = parameter(request, "index");
    auto task = parts_.tasks.find(parameter(request, "task"));
    if (!task && task.error().kind != base::ErrorKind::missing) return refuse_request(request, task.error());
    const bool is_here = task && task->request.index == name;
    const auto index =
        index_to_read(parts_.config, *caller, name, is_here ? task->request.package : std::string());
    if (!index) return tl::unexpected(index.error());
    if (!is_here)
        return refuse("task.no_such_task", "There is no request with this ID", parameter(request, "task"),
                      "see the page of builds of the index");
    const bool has_logs = may_read_logs(parts_.config, *caller, **index, task->request.package);
    return Read{*std::move(task), has_logs};
}

RequestApi::Reply RequestApi::show(const http::ApiRequest& request) {
    const auto found = read(request);
    if (!found) return tl::unexpected(found.error());
    return document(*found);
}

RequestApi::Reply RequestApi::document(const Read& read) {
    const Task& task = read.task;
    io::Json json = io::Json::object({{"format", "wheelyard.request/1"},
                                      {"id", task.id},
                                      {"index", task.request.index},
                                      {"package", task.request.package},
                                      {"version", task.request.version},
                                      {"python", task.request.python},
                                      {"accelerator", task.request.accelerator},
                                      {"state", std::string(wire::task_state_text(task.state))},
                                      {"reason", read.has_logs ? task.reason : public_reason(task)},
                                      {"asked", base::render_rfc3339(task.asked)},
                                      {"changed", base::render_rfc3339(task.changed)},
                                      {"attempts", task.attempts},
                                      {"may_read_log", read.has_logs}});
    if (read.has_logs) {
        json.set("log_bytes", task.log_bytes);
        json.set("asked_by", task.asked_by);
        if (!task.approved_by.empty()) json.set("approved_by", task.approved_by);
        if (!task.agent.empty()) json.set("agent", task.agent);
    }
    const auto outcome = wire::parse_outcome(task.outcome.render());
    if (outcome && outcome->diagnosis) {
        const wire::Diagnosis& why = *outcome->diagnosis;
        const bool has_line = read.has_logs && !why.first_error.empty();
        json.set("cause", why.error.sentence + (has_line ? " [" + why.first_error + "]" : ""));
        json.set("remedy", why.error.advice);
        json.set("rule", why.cause);
    }
    add_queue(json, task);
    if (parts_.builds != nullptr) add_builds(json, task);
    return http::ApiReply{.status = 200, .json = json.render()};
}

// Where it is in the queue, and whether anybody will take it.
void RequestApi::add_queue(io::Json& json, const Task& task) {
    if (task.state != TaskState::queued) return;
    if (const auto place = parts_.tasks.place(task); place) json.set("place", *place);
    if (parts_.sites == nullptr || !task.reason.empty()) return;
    const std::string why = parts_.sites->why_nobody_takes(
        task.request.index, {.id = task.id,
                             .package = task.request.package,
                             .version = task.request.version,
                             .python = task.request.python,
                             .accelerator = task.request.accelerator,
                             .state = std::string(wire::task_state_text(task.state)),
                             .reason = {},
                             .asked = task.asked});
    if (!why.empty()) json.set("nobody_takes", why);
}

// The builds at this wheel, each with its page.
void RequestApi::add_builds(io::Json& json, const Task& task) {
    const IndexConfig* index = parts_.config.find_index(task.request.index);
    io::Json builds = io::Json::array();
    std::vector<std::string> names{task.request.index};
    if (index != nullptr && !index->staging.empty()) names.push_back(index->staging);
    std::size_t count = 0;
    for (const std::string& name : names) {
        const auto some = parts_.builds->list(name, task.request.package);
        if (!some) continue;
        for (const tasks::KeptBuild& build : *some) {
            if (!answers(build.report, task.request) || build.report.began < task.asked) continue;
            if (count++ == max_builds_of_request) break;
            builds.push(io::Json::object({{"site", build.report.site},
                                          {"id", build.report.id},
                                          {"state", build.report.state},
                                          {"began", base::render_rfc3339(build.report.began)}}));
        }
    }
    json.set("builds", std::move(builds));
}

RequestApi::Reply RequestApi::read_log(const http::ApiRequest& request) {
    const auto found = read(request);
    if (!found) return tl::unexpected(found.error());
    if (!found->has_logs) {
        const auto caller = caller_of(parts_.tokens, request.authorization);
        if (!caller || !*caller) return tl::unexpected(parts_.tokens.verify({}).error());
        return refuse("auth.scope_refused", "This token does not permit reading the logs of this index",
                      (*caller)->id, "ask an administrator for a token with the action `read`");
    }
    const auto text = query_value(request.query, "offset");
    const auto offset = text ? base::parse_decimal(*text) : std::optional<std::uint64_t>(0);
    if (!offset || *offset > static_cast<std::uint64_t>(INT64_MAX))
        return refuse("task.query", "Invalid query parameter", "offset", "give a number of bytes");
    auto log = parts_.tasks.read_log(found->task.id, 0, static_cast<std::int64_t>(*offset));
    if (!log) return refuse_request(request, log.error());
    http::ApiReply answer;
    answer.text = *std::move(log);
    return answer;
}

// With a token that may add tasks it is one of those; without, it awaits an approval.
RequestApi::Reply RequestApi::ask(const http::ApiRequest& request) {
    const auto caller = caller_of(parts_.tokens, request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    const auto index = index_to_read(parts_.config, *caller, parameter(request, "index"), {});
    if (!index) return tl::unexpected(index.error());
    if (!(*index)->may_strangers_ask) {
        if (!*caller) return tl::unexpected(parts_.tokens.verify({}).error());
        return refuse("auth.scope_refused",
                      "Only tokens with the action `task` may ask for wheels of this index", (*caller)->id,
                      "ask with POST /api/v1/tasks and such a token");
    }
    const auto wanted = wire::parse_task_request(request.body);
    if (!wanted) return refuse_request(request, wanted.error());
    if (wanted->index != (*index)->name || wanted->source)
        return refuse("task.wish", "A request without a token names the index of its address and no source",
                      wanted->index, "leave `source` out, or use a token with the action `task`");
    if (const auto open = check_takes_builds(parts_.config, **index); !open)
        return refuse_request(request, open.error());
    if (auto room = parts_.config.room().check(request.body.size()); !room)
        return refuse_request(request, room.error());
    const auto asked = parts_.tasks.ask(*wanted, stranger_name(request.client));
    if (!asked) return refuse_request(request, asked.error());
    io::log_info("request.asked", {{"request", request.request_id},
                                   {"task", asked->task.id},
                                   {"index", wanted->index},
                                   {"package", wanted->package}});
    if (parts_.sites != nullptr) parts_.sites->show_requests(wanted->index);
    return document({asked->task, may_read_logs(parts_.config, *caller, **index, wanted->package)});
}

}  // namespace wheelyard::registry
