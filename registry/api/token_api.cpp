// Each change reads the tokens and writes in one task of the writer, so that concurrent requests cannot pass a limit.
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
#include "registry/api/families.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

using io::field;
using io::Need;

// An empty list is refused: left out, it would mean all.
struct Scopes {
    static io::Json to(const std::vector<std::string>& items) { return io::Json::array_of(items); }
    static bool from(const io::Json& json, std::vector<std::string>& into) {
        const auto* items = json.as_array();
        const bool is_good = items != nullptr && !items->empty() && items->size() <= max_scope_items &&
                             std::all_of(items->begin(), items->end(),
                                         [](const io::Json& item) { return item.as_string() != nullptr; });
        if (is_good) into = json.texts();
        return is_good;
    }
    static std::string type() { return "list of at least one: text"; }
};

bool administers_tokens(const Call& call) {
    const auto& actions = call.who().actions;
    return !call.who().is_grant && std::any_of(actions.begin(), actions.end(), [](const std::string& action) {
        return action == "*" || action == token_action;
    });
}

tl::unexpected<wire::Problem> fail_token(const Call& call, const base::Error& error) {
    return fail_call(call, "token.refused", error, problem_of_change);
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

struct TokenToRevoke {
    std::string id;
    std::string reason;
};
constexpr auto of_token = arguments<TokenToRevoke>({
    in_path(field<&TokenToRevoke::id>("token", "Its ID, as in the list")),
    in_body(field<&TokenToRevoke::reason>("reason", "The reason, in one line", Need::valid)),
});
constexpr auto of_wish = arguments<TokenWish>({
    needed_in_body(field<&TokenWish::name>("name", "Who or what uses it", Need::valid)),
    needed_in_body(field<Scopes, &TokenWish::indexes>("indexes", "The indexes it is for", Need::valid)),
    in_body(field<Scopes, &TokenWish::projects>("projects", "Its projects (default: all)", Need::valid)),
    in_body(field<Scopes, &TokenWish::actions>("actions", "What it permits (default: upload)", Need::valid)),
    in_body(field<&TokenWish::expires>("expires", "`90d`, `12h`; default: never", Need::valid)),
});

Reply create_token(const ApiParts& parts, const Call& call, const TokenWish& wish) {
    const Identity& caller = call.who();
    const TokenText text = make_token_text();
    const base::UnixMicros now = parts.clock.now();
    auto row = make_token_row(wish, known_indexes(parts.config, caller), text, {caller.name, {}, now});
    if (!row) return fail_token(call, row.error());
    if (row->expires == 0) row->expires = caller.expires;  // "for as long as possible"
    const bool is_longer = caller.expires != 0 && row->expires > caller.expires;
    if (is_longer || !is_within(*row, caller))
        return refuse("token.scope", "The new token would permit more than yours, or for longer", caller.id,
                      "ask for indexes, projects, actions and a lifetime within your token's own");
    const auto added = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        WHEELYARD_TRY(check_others(tokens, *row, caller, now));
        return catalog.add_token(*row);
    });
    if (!added) return fail_token(call, added.error());
    if (!call.is_local)
        io::log_info("token.created", {{"request", call.request.request_id},
                                       {"token", call.who().id},
                                       {"by", caller.name},
                                       {"id", row->id},
                                       {"name", row->name},
                                       {"indexes", base::join(row->indexes, ",")},
                                       {"projects", base::join(row->projects, ",")},
                                       {"actions", base::join(row->actions, ",")}});
    io::Json document = token_json(*row, now);
    document.set("token", text.text());
    return reply_with(document);
}

Reply list_tokens(const ApiParts& parts, const Call& call, const NoArguments&) {
    const Identity& caller = call.who();
    std::vector<catalog::TokenRow> tokens;
    const auto read = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(tokens, catalog.tokens());
        return {};
    });
    if (!read) return fail_token(call, read.error());
    io::Json visible = io::Json::array();
    std::uint64_t hidden = 0;
    for (const catalog::TokenRow& token : tokens) {
        if (is_replaced(token, parts.clock.now())) continue;
        if (is_within(token, caller))
            visible.push(token_json(token, parts.clock.now()));
        else
            ++hidden;
    }
    io::Json document = io::Json::object({{"format", "wheelyard.tokens/1"}, {"tokens", std::move(visible)}});
    // The caller must not take the list for the whole.
    if (hidden > 0) document.set("hidden", hidden);
    return reply_with(document);
}

Reply revoke_token(const ApiParts& parts, const Call& call, const TokenToRevoke& of) {
    const Identity& caller = call.who();
    const std::string& id = of.id;
    catalog::TokenRow revoked;
    const auto done = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        const auto token = find_token(tokens, id);
        const bool may_revoke =
            token && !caller.is_grant &&
            (token->id == caller.id || (administers_tokens(call) && is_within(*token, caller)));
        if (!may_revoke)  // the same answer as for an unknown id
            return wire::fail("token.unknown", "Your token's scope has no token with this id",
                              id.substr(0, token_id_length), "GET /api/v1/tokens lists the ids");
        WHEELYARD_TRY(revoke_with_made(catalog, id, {caller.name, of.reason, parts.clock.now()}));
        WHEELYARD_ASSIGN(const auto after, catalog.tokens());
        revoked = find_token(after, id).value_or(*token);
        return {};
    });
    if (!done) return fail_token(call, done.error());
    if (!call.is_local)
        io::log_info("token.revoked", {{"request", call.request.request_id},
                                       {"token", call.who().id},
                                       {"by", caller.name},
                                       {"id", id},
                                       {"reason", of.reason}});
    return reply_with(token_json(revoked, parts.clock.now()));
}

constexpr Right of_token_administrators{.scope = Scope::tokens,
                                        .action = token_action,
                                        .to = "the administration of tokens",
                                        .advice = "the action `token`"};

constexpr std::array token_rows{
    OperationRow{posted("/api/v1/tokens", "createToken",
                        "Creates a token with at most the scope of the caller's, and returns its text once",
                        http::BodyKind::json, of_wish, "wheelyard.token_request/1"),
                 of_token_administrators, "token.body", typed<of_wish, create_token>},
    OperationRow{got("/api/v1/tokens", "listTokens",
                     "Lists the tokens within the scope of the caller's, without secrets", no_arguments),
                 of_token_administrators, "token.body", typed<no_arguments, list_tokens>},
    OperationRow{posted("/api/v1/tokens/{token}/revoke", "revokeToken",
                        "Revokes a token within the scope of the caller's, or the caller's own",
                        http::BodyKind::json, of_token, "wheelyard.change/1"),
                 {},
                 "lifecycle.body",
                 typed<of_token, revoke_token>},
};

}  // namespace

std::span<const OperationRow> token_operations() {
    return token_rows;
}

}  // namespace wheelyard::registry
