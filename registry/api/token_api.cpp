// Each change reads the tokens and writes in one task of the writer, so that concurrent requests cannot pass a limit.
#include "registry/api/token_api.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/access/publisher.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/api/api.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"
#include "registry/lifecycle/action.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view create_operation = "createToken";
constexpr std::string_view list_tokens_operation = "listTokens";
constexpr std::string_view revoke_operation = "revokeToken";

tl::unexpected<wire::Problem> fail_token_request(const http::ApiRequest& request, const Identity& caller,
                                                 const base::Error& error) {
    wire::Problem problem = problem_of_change(error);
    io::log_warn("token.refused", {{"request", request.request_id},
                                   {"operation", std::string(request.operation)},
                                   {"token", caller.id},
                                   {"status", std::to_string(problem.status)},
                                   {"code", problem.code}});
    return tl::unexpected(std::move(problem));
}

bool administers_tokens(const Identity& caller) {
    const auto has = [&](std::string_view action) {
        return std::find(caller.actions.begin(), caller.actions.end(), action) != caller.actions.end();
    };
    return !caller.is_grant && (has("*") || has(token_action));
}

// Names are identities in the audit log, and decide who may promote a file: nobody takes one from outside its scope.
base::Status check_others(const std::vector<catalog::TokenRow>& tokens, const catalog::TokenRow& row,
                          const Identity& caller, base::UnixMicros now) {
    std::size_t active = 0;
    for (const catalog::TokenRow& token : tokens) {
        const bool is_counted_apart =
            is_person(token.name) || is_publisher(token.name) || agent_row_of(token.name) != AgentRow::none;
        if (token_state(token, now) == "active" && !is_counted_apart) ++active;
        if (token.name == row.name && !is_within(token, caller))
            return wire::fail("token.name_taken", "A token outside your token's scope has this name",
                              row.name, "choose another name");
    }
    if (active < max_active_tokens) return {};
    return wire::fail("token.too_many", "The registry has too many active tokens", std::to_string(active),
                      "revoke tokens that nobody uses", base::Recovery::person);
}

std::optional<catalog::TokenRow> find_token(const std::vector<catalog::TokenRow>& tokens,
                                            std::string_view id) {
    const auto found = std::find_if(tokens.begin(), tokens.end(),
                                    [&](const catalog::TokenRow& token) { return token.id == id; });
    if (found == tokens.end()) return std::nullopt;
    return *found;
}

}  // namespace

bool TokenApi::handles(std::string_view operation) {
    return operation == create_operation || operation == list_tokens_operation ||
           operation == revoke_operation;
}

wire::Answered<http::ApiReply> TokenApi::answer(const http::ApiRequest& request) {
    const auto caller = parts_.tokens.verify(request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    if (request.operation == revoke_operation) return revoke(request, *caller);
    if (!administers_tokens(*caller))
        return refuse("auth.scope_refused", "This token does not permit the administration of tokens",
                      caller->id, "ask an administrator for a token with the action `token`");
    return request.operation == create_operation ? create(request, *caller) : list(request, *caller);
}

TokenApi::Reply TokenApi::create(const http::ApiRequest& request, const Identity& caller) {
    const auto wish = parse_token_wish(request.body);
    if (!wish) return fail_token_request(request, caller, wish.error());
    const TokenText text = make_token_text();
    const base::UnixMicros now = parts_.clock.now();
    auto row = make_token_row(*wish, known_indexes(parts_.config, caller), text, {caller.name, {}, now});
    if (!row) return fail_token_request(request, caller, row.error());
    if (row->expires == 0) row->expires = caller.expires;  // "for as long as possible"
    const bool is_longer = caller.expires != 0 && row->expires > caller.expires;
    if (is_longer || !is_within(*row, caller))
        return refuse("token.scope", "The new token would permit more than yours, or for longer", caller.id,
                      "ask for indexes, projects, actions and a lifetime within your token's own");
    const auto added = parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        WHEELYARD_TRY(check_others(tokens, *row, caller, now));
        return catalog.add_token(*row);
    });
    if (!added) return fail_token_request(request, caller, added.error());
    io::log_info("token.created", {{"request", request.request_id},
                                   {"token", caller.id},
                                   {"by", caller.name},
                                   {"id", row->id},
                                   {"name", row->name},
                                   {"indexes", base::join(row->indexes, ",")},
                                   {"projects", base::join(row->projects, ",")},
                                   {"actions", base::join(row->actions, ",")}});
    io::Json document = token_json(*row, now);
    document.set("token", text.text());
    return http::ApiReply{.status = 200, .json = document.render()};
}

TokenApi::Reply TokenApi::list(const http::ApiRequest& request, const Identity& caller) {
    std::vector<catalog::TokenRow> tokens;
    const auto read = parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(tokens, catalog.tokens());
        return {};
    });
    if (!read) return fail_token_request(request, caller, read.error());
    io::Json visible = io::Json::array();
    std::uint64_t hidden = 0;
    for (const catalog::TokenRow& token : tokens) {
        if (is_replaced(token, parts_.clock.now())) continue;
        if (is_within(token, caller))
            visible.push(token_json(token, parts_.clock.now()));
        else
            ++hidden;
    }
    io::Json document = io::Json::object({{"format", "wheelyard.tokens/1"}, {"tokens", std::move(visible)}});
    // The caller must not take the list for the whole.
    if (hidden > 0) document.set("hidden", hidden);
    return http::ApiReply{.status = 200, .json = document.render()};
}

TokenApi::Reply TokenApi::revoke(const http::ApiRequest& request, const Identity& caller) {
    const std::string id = parameter(request, "token");
    lifecycle::Action change;
    if (const auto read = lifecycle::read_body(request.body, change); !read)
        return fail_token_request(request, caller, read.error());
    catalog::TokenRow revoked;
    const auto done = parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        const auto token = find_token(tokens, id);
        const bool may_revoke =
            token && !caller.is_grant &&
            (token->id == caller.id || (administers_tokens(caller) && is_within(*token, caller)));
        if (!may_revoke)  // the same answer as for an unknown id
            return wire::fail("token.unknown", "Your token's scope has no token with this id",
                              id.substr(0, token_id_length), "GET /api/v1/tokens lists the ids");
        WHEELYARD_TRY(revoke_with_made(catalog, id, {caller.name, change.reason, parts_.clock.now()}));
        WHEELYARD_ASSIGN(const auto after, catalog.tokens());
        revoked = find_token(after, id).value_or(*token);
        return {};
    });
    if (!done) return fail_token_request(request, caller, done.error());
    io::log_info("token.revoked", {{"request", request.request_id},
                                   {"token", caller.id},
                                   {"by", caller.name},
                                   {"id", id},
                                   {"reason", change.reason}});
    return http::ApiReply{.status = 200, .json = token_json(revoked, parts_.clock.now()).render()};
}

}  // namespace wheelyard::registry
