#include "registry/api/api.hpp"

#include <algorithm>
#include <utility>

#include "lib/io/log.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/refusal.hpp"
#include "registry/intake/uploads.hpp"

namespace wheelyard::registry {
namespace {

tl::unexpected<wire::Problem> unknown_operation(std::string_view id) {
    return refuse("request.operation", "The server does not know this operation", std::string(id),
                  "upgrade the server");
}

// The caller, as far as the operation looks at credentials: where everyone may call, what is no token of this
// registry, or no longer, is as if nothing was sent.
wire::Answered<std::optional<Identity>> caller_of(TokenVerifier& tokens, Callers callers,
                                                  const http::ApiRequest& request) {
    if (callers == Callers::nobody) return std::nullopt;
    auto token = tokens.verify(request.authorization);
    if (token) return *std::move(token);
    if (callers == Callers::everyone && token.error().status < 500) return std::nullopt;
    return tl::unexpected(std::move(token.error()));
}

wire::Answered<http::ApiReply> answer_call(const ApiParts& parts, const OperationRow& row, Call call) {
    if (auto known = check_index(parts.config, row, call); !known)
        return tl::unexpected(std::move(known.error()));
    auto arguments = collect_arguments(row, call.request);
    if (!arguments) return tl::unexpected(std::move(arguments.error()));
    call.arguments = *std::move(arguments);
    if (auto allowed = check_right(parts.config, row, call); !allowed)
        return tl::unexpected(std::move(allowed.error()));
    if (row.stores == Stores::yes && !call.request.body.empty()) {
        if (auto room = parts.config->room().check(call.request.body.size()); !room)
            return tl::unexpected(problem_of_change(room.error()));
    }
    return row.answer(parts, call);
}

}  // namespace

wire::Problem problem_of_change(const base::Error& error) {
    if (auto known = problem_of_request(error)) return *std::move(known);
    return problem_of_failure(error, Attempted::change);
}

tl::unexpected<wire::Problem> fail_read(const Call& call, const base::Error& error) {
    if (auto known = problem_of_request(error)) return tl::unexpected(*std::move(known));
    return fail_call(call, "api.read_failed", error, problem_of_change);
}

wire::Answered<http::Admission> Api::admit(const http::ApiRequest& request) {
    const OperationRow* row = find_row(request.operation);
    if (row != nullptr && row->right.callers == Callers::nobody)
        return http::Admission{.owner = row->owner != nullptr ? row->owner(parts_, request) : ""};
    const auto caller =
        caller_of(parts_.tokens, row != nullptr ? row->right.callers : Callers::tokens, request);
    if (!caller) return tl::unexpected(caller.error());
    if (!*caller) return http::Admission{};
    const Identity& token = **caller;
    const auto verbs = lifecycle::verbs();
    const auto has_action = [&token](std::string_view action) {
        return std::find(token.actions.begin(), token.actions.end(), action) != token.actions.end();
    };
    const bool may_administer =
        has_action(token_action) || has_action(index_action) ||
        std::any_of(verbs.begin(), verbs.end(),
                    [&has_action](const lifecycle::VerbRow& verb) { return has_action(verb.scope); });
    return http::Admission{.may_administer = may_administer, .owner = token.name};
}

wire::Answered<http::ApiReply> Api::answer(const http::ApiRequest& request) {
    const OperationRow* row = find_row(request.operation);
    if (row == nullptr || row->right.callers == Callers::local) return unknown_operation(request.operation);
    ApiParts parts = parts_;
    parts.config = parts_.config.held();  // one snapshot for the whole request
    auto caller = caller_of(parts.tokens, row->right.callers, request);
    if (!caller) return tl::unexpected(std::move(caller.error()));
    return answer_call(parts, *row, {request, row->http, *std::move(caller), {}});
}

wire::Answered<http::ApiReply> Api::answer_locally(std::string_view operation, const io::Json& arguments,
                                                   const std::string& actor, const lifecycle::Step& step) {
    const OperationRow* row = find_row(operation);
    if (row == nullptr) return unknown_operation(operation);
    RequestParts split = split_arguments(*row, arguments);
    const http::ApiRequest request{.request_id = {},
                                   .operation = row->http.id,
                                   .parameters = std::move(split.parameters),
                                   .query = std::move(split.query),
                                   .body = std::move(split.body)};
    ApiParts parts = parts_;
    parts.config = parts_.config.held();
    return answer_call(parts, *row, {request, row->http, local_identity(actor), {}, true, step});
}

}  // namespace wheelyard::registry
