#include "registry/api/operation.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "lib/store/lifecycle/action.hpp"
#include "lib/wheel/name.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {
namespace {

// The first value of `name`, percent-decoded; nullopt if the name is missing or its value cannot be decoded.
std::optional<std::string> query_value(std::string_view query, std::string_view name) {
    for (const std::string_view item : base::split(query, '&')) {
        const auto equals = item.find('=');
        if (equals != std::string_view::npos && item.substr(0, equals) == name) {
            auto value = base::decode_percent(item.substr(equals + 1));
            if (value) return std::move(*value);
        }
    }
    return std::nullopt;
}

using io::Json;

bool is_for_all(const std::vector<std::string>& scope) {
    return std::find(scope.begin(), scope.end(), "*") != scope.end();
}

// A query has texts only: what the argument's type asks for.
Json of_text(const http::Argument& argument, std::string text) {
    const std::string type = argument.member.type();
    if (type == "integer") {
        const auto number = base::parse_decimal(text);
        if (number && *number <= static_cast<std::uint64_t>(INT64_MAX)) return Json(*number);
    }
    if (type == "`true` or `false`" && (text == "true" || text == "false")) return Json(text == "true");
    return Json(std::move(text));
}

tl::unexpected<wire::Problem> refuse_body_of(const OperationRow& row, const std::string& sentence,
                                             std::string value = {}) {
    return refuse(row.malformed, sentence, std::move(value), "see docs/reference/api.md for its members");
}

wire::Answered<Json> read_body(const OperationRow& row, const std::string& body) {
    auto document = io::parse_json(body);
    if (!document || document->as_object() == nullptr)
        return refuse_body_of(row, "The body is not a JSON object");
    if (const std::string format = document->string_or("format", ""); format != row.http.format)
        return refuse_body_of(row, "The body's format is not " + std::string(row.http.format), format);
    return *std::move(document);
}

// The project that the arguments name; empty: none, or no valid one.
std::string project_of(const Json& arguments) {
    if (const std::string filename = arguments.string_or("filename", ""); !filename.empty())
        return project_of_filename(filename);
    return wheel::normalize_name(arguments.string_or("project", ""));
}

bool covers(const RegistryConfig& config, const Right& right, const Call& call) {
    const Identity& who = call.who();
    const std::string index = call.arguments.string_or("index", "");
    const std::string project = project_of(call.arguments);
    switch (right.scope) {
        case Scope::any_token:
            return true;
        case Scope::project:
            return allows(who, index, project, right.action) &&
                   (!project.empty() || is_for_all(who.projects));
        case Scope::every_index:
            return is_for_all(who.indexes) && allows(who, "*", {}, right.action);
        case Scope::everything:
            return is_for_all(who.indexes) && is_for_all(who.projects) && allows(who, "*", {}, right.action);
        case Scope::tokens:
            return std::any_of(who.actions.begin(), who.actions.end(), [&](const std::string& action) {
                return action == "*" || action == right.action;
            });
        case Scope::every_file:
            return may_operate(config, who, index);
        case Scope::some_project:
            return !project.empty() && may_read(config, who, index, project) &&
                   std::any_of(who.actions.begin(), who.actions.end(), [&](const std::string& action) {
                       return allows(who, index, project, action);
                   });
    }
    return false;
}

bool is_there(const RegistryConfig& config, IndexIs wanted, const std::string& index) {
    if (wanted == IndexIs::with_files) return has_files_of(config, index);
    return config.find_index(index) != nullptr;
}

}  // namespace

bool may_operate(const RegistryConfig& config, const Identity& caller, const std::string& index) {
    const auto verbs = lifecycle::verbs();
    const bool may_change = std::any_of(verbs.begin(), verbs.end(), [&](const lifecycle::VerbRow& row) {
        return row.subject == lifecycle::Subject::file && allows(caller, index, {}, row.scope);
    });
    return may_change && is_for_all(caller.projects) && may_read_all(config, caller, index);
}

bool sees_all_files(const RegistryConfig& config, const Call& call, const std::string& index) {
    return call.caller && has_files_of(config, index) && may_operate(config, *call.caller, index);
}

Identity local_identity(std::string name) {
    Identity identity;
    identity.name = std::move(name);
    identity.id = identity.name;
    identity.indexes = identity.projects = identity.actions = {"*"};
    return identity;
}

tl::unexpected<wire::Problem> refuse_arguments(const Call& call, const io::Fault& fault) {
    const OperationRow& row = *find_row(call.operation.id);
    const std::string sentence = "The argument `" + fault.path + "` is " +
                                 (fault.is_missing ? "missing" : "invalid: expected " + fault.expected);
    return refuse(row.malformed, sentence, fault.value.empty() ? fault.path : fault.value,
                  "see docs/reference/api.md for its arguments");
}

// Only what the row names: a right is judged by `index`, `filename` and `project`, which no body may add.
wire::Answered<Json> collect_arguments(const OperationRow& row, const http::ApiRequest& request) {
    Json body = Json::object();
    if (row.http.body == http::BodyKind::json) {
        auto read = read_body(row, request.body);
        if (!read) return read;
        body = *std::move(read);
    }
    Json all = Json::object();
    for (const http::Argument& argument : row.http.arguments) {
        const std::string name(argument.member.name);
        if (argument.in == http::In::path) all.set(name, parameter(request, name));
        if (const Json* value = argument.in == http::In::body ? body.find(name) : nullptr; value != nullptr)
            all.set(name, *value);
        if (argument.in != http::In::query) continue;
        if (auto text = query_value(request.query, name)) all.set(name, of_text(argument, *std::move(text)));
    }
    // A request for a dry run must never make the change.
    if (body.bool_or("dry_run", false) && all.find("dry_run") == nullptr)
        return refuse_body_of(row, "This operation has no dry run");
    return all;
}

tl::unexpected<wire::Problem> fail_call(const Call& call, std::string_view event, const base::Error& error,
                                        wire::Problem (*problem_of)(const base::Error&)) {
    wire::Problem problem = problem_of(error);
    if (call.is_local) {
        problem.code = error.code;
        problem.detail = error.sentence;
        problem.value = error.value;
        problem.advice = error.advice;
        return tl::unexpected(std::move(problem));
    }
    io::log_warn(event, {{"request", call.request.request_id},
                         {"operation", std::string(call.operation.id)},
                         {"token", call.caller ? call.caller->id : std::string()},
                         {"status", std::to_string(problem.status)},
                         {"error", error.text()}});
    return tl::unexpected(std::move(problem));
}

RequestParts split_arguments(const OperationRow& row, const Json& arguments) {
    RequestParts parts{.path = std::string(row.http.path)};
    Json body = Json::object();
    if (!row.http.format.empty()) body.set("format", row.http.format);
    for (const http::Argument& argument : row.http.arguments) {
        const std::string name(argument.member.name);
        const Json* value = arguments.find(name);
        if (value == nullptr) continue;
        if (argument.in == http::In::body) {
            body.set(name, *value);
            continue;
        }
        const std::string text = value->as_string() != nullptr ? *value->as_string() : value->render();
        if (argument.in == http::In::path) {
            parts.path = base::replace_all(parts.path, "{" + name + "}", base::encode_percent(text));
            parts.parameters.emplace(name, text);
        } else {
            parts.query += (parts.query.empty() ? "" : "&") + name + "=" + base::encode_percent(text);
        }
    }
    if (row.http.body != http::BodyKind::none) parts.body = body.render();
    return parts;
}

wire::Answered<void> check_index(const RegistryConfig& config, const OperationRow& row, const Call& call) {
    if (row.right.index == IndexIs::not_checked) return {};
    const std::string index = parameter(call.request, "index");
    const bool is_known = call.is_local || !call.caller || may_know(config, *call.caller, index);
    if (is_known && is_there(config, row.right.index, index)) return {};
    return unknown_index(config, index);
}

wire::Answered<void> check_right(const RegistryConfig& config, const OperationRow& row, const Call& call) {
    const Right& right = row.right;
    if (call.is_local || right.callers != Callers::tokens || covers(config, right, call)) return {};
    return refuse_right(call);
}

tl::unexpected<wire::Problem> refuse_right(const Call& call) {
    const Right& right = find_row(call.operation.id)->right;
    const auto word = call.operation.path.substr(call.operation.path.rfind('/') + 1);
    return refuse("auth.scope_refused",
                  "This token does not permit " +
                      (right.to.empty() ? "this action (" + std::string(word) + ")" : std::string(right.to)),
                  call.who().id, "ask an administrator for a token with " + right_text(right));
}

std::string right_text(const Right& right) {
    const bool is_for_all = right.callers != Callers::tokens;
    if (is_for_all || (right.scope == Scope::any_token && right.action.empty())) {
        std::string text(is_for_all ? "none" : "any token");
        if (right.advice.empty()) return text;
        return text.append("; ").append(right.where).append(" ").append(right.advice);
    }
    if (!right.advice.empty()) return std::string(right.advice);
    return "the action `" + std::string(right.action) + "` for this index and project";
}

std::span<const OperationRow> operation_rows() {
    static const std::vector<OperationRow> all = [] {
        std::vector<OperationRow> rows;
        for (const auto family :
             {file_operations, index_operations, index_reads, wheel_operations, rule_operations,
              audit_operations, token_operations, agent_operations, site_operations, build_operations,
              request_operations, task_operations, login_operations, publish_operations})
            for (const OperationRow& row : family())
                rows.push_back(row);
        return rows;
    }();
    return all;
}

http::Operations api_operations() {
    static const std::vector<http::Operation> all = [] {
        std::vector<http::Operation> operations;
        for (const OperationRow& row : operation_rows())
            if (row.right.callers != Callers::local) operations.push_back(row.http);
        return operations;
    }();
    return all;
}

const OperationRow* find_row(std::string_view id) {
    for (const OperationRow& row : operation_rows())
        if (row.http.id == id) return &row;
    return nullptr;
}

Reply refuse_reporting(const Identity& caller) {
    return refuse("site.scope", "This token does not permit reporting to this index", caller.id,
                  "use a token with the action `upload` or `build`; that of an agent that enrolled "
                  "reports its own site");
}

}  // namespace wheelyard::registry
