// Each change reads the tokens and writes in one task of the writer, so that concurrent requests cannot pass
// a limit.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "lib/status/site_report.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
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
    return std::any_of(actions.begin(), actions.end(),
                       [](const std::string& action) { return action == "*" || action == token_action; });
}

tl::unexpected<wire::Problem> fail_token(const Call& call, const base::Error& error) {
    return fail_call(call, "token.refused", error, problem_of_change);
}

// Names are identities in the audit log, and decide who may promote a file: nobody takes one from outside its
// scope.
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
    in_path(field<&TokenToRevoke::id>("token", "Its ID, as `token list` shows it")),
    in_body(field<&TokenToRevoke::reason>("reason", "The reason in one line", Need::valid)),
});
constexpr auto wanted_indexes = needed_in_body(
    field<Scopes, &NewToken::indexes>("indexes", "The indexes that it may use, '*' for all", Need::valid));
constexpr auto wanted_projects = in_body(field<Scopes, &NewToken::projects>(
    "projects", "The projects that it may use (default: all)", Need::valid));
constexpr auto wanted_actions = in_body(
    field<Scopes, &NewToken::actions>("actions", "The permitted actions (default: upload)", Need::valid));
constexpr auto of_new_token = arguments<NewToken>({
    needed_in_body(field<&NewToken::name>("name", "Name of its user or program", Need::valid)),
    wanted_indexes,
    wanted_projects,
    wanted_actions,
    in_body(
        field<&NewToken::expires>("expires", "Its lifetime: 12h, 90d, 8w (default: forever)", Need::valid)),
});
constexpr auto of_enrolment = arguments<NewToken>({
    needed_in_body(field<&NewToken::name>("site", "`name` in the agent's site.toml", Need::valid)),
    wanted_indexes,
    wanted_projects,
    wanted_actions,
});
struct EnrolledSite {
    std::string site;
};
constexpr auto of_enrolled = arguments<EnrolledSite>(
    {needed_in_body(field<&EnrolledSite::site>("site", "The site, as `agent enrol` named it", Need::valid))});
struct KnownPerson {
    std::string person;
};
constexpr auto of_person = arguments<KnownPerson>({needed_in_body(field<&KnownPerson::person>(
    "person", "as the audit log and `token list` name it: login:IDENTITY:HASH", Need::valid))});

struct ShownTokens {
    std::vector<io::Json> tokens = {};
    std::optional<std::int64_t> hidden = {};
};
constexpr auto tokens_record = io::record<ShownTokens>(
    {
        field<io::ListOf<io::Rendered<token_document>>, &ShownTokens::tokens>(
            "tokens", "those within the caller's scope"),
        field<&ShownTokens::hidden>("hidden", "how many there are outside of it; absent: none",
                                    Need::optional, io::Written::unless_null),
    },
    "wheelyard.tokens/1");
constexpr auto revoked_record =
    io::record_of<std::string>("agent", "its name: agent:SITE", "wheelyard.agent_revoked/1");
struct ForgottenPerson {
    std::string person;
    std::size_t tokens = 0;
};
constexpr auto forgotten_record = io::record<ForgottenPerson>(
    {
        field<&ForgottenPerson::person>("person", "as the audit log names it, without what people call them"),
        field<&ForgottenPerson::tokens>("tokens", "how many log-ins were ended"),
    },
    "wheelyard.person_forgotten/1");

base::Status change_tokens(const ApiParts& parts, const lifecycle::CatalogWork& work) {
    return blobs::with_reserve(parts.config->room(), [&] { return parts.writer.run(work); });
}

Reply create_token(const ApiParts& parts, const Call& call, const NewToken& wanted) {
    const Identity& caller = call.who();
    const TokenText text = make_token_text();
    const base::UnixMicros now = parts.clock.now();
    auto row = make_token_row(wanted, known_indexes(parts.config, caller), text, {caller.name, {}, now});
    if (!row) return fail_token(call, row.error());
    if (row->expires == 0) row->expires = caller.expires;  // "for as long as possible"
    const bool is_longer = caller.expires != 0 && row->expires > caller.expires;
    if (is_longer || !is_within(*row, caller))
        return refuse("token.scope", "The new token would permit more than yours, or for longer", caller.id,
                      "ask for indexes, projects, actions and a lifetime within your token's own");
    const auto added = change_tokens(parts, [&](catalog::Catalog& catalog) -> base::Status {
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
    return reply_with(token_json(*row, now, text.text()));
}

Reply list_tokens(const ApiParts& parts, const Call& call, const NoArguments&) {
    const Identity& caller = call.who();
    std::vector<catalog::TokenRow> tokens;
    const auto read = parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(tokens, catalog.tokens());
        return {};
    });
    if (!read) return fail_token(call, read.error());
    ShownTokens shown;
    for (const catalog::TokenRow& token : tokens) {
        if (is_replaced(token, parts.clock.now())) continue;
        if (is_within(token, caller))
            shown.tokens.push_back(token_json(token, parts.clock.now()));
        else
            shown.hidden = shown.hidden.value_or(0) + 1;
    }
    return reply_with(tokens_record.write(shown));
}

Reply revoke_token(const ApiParts& parts, const Call& call, const TokenToRevoke& of) {
    const Identity& caller = call.who();
    const std::string& id = of.id;
    catalog::TokenRow revoked;
    const auto done = change_tokens(parts, [&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const auto tokens, catalog.tokens());
        const auto token = find_token(tokens, id);
        const bool may_revoke =
            token && (token->id == caller.id || (administers_tokens(call) && is_within(*token, caller)));
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

base::Status check_site(const std::string& site) {
    if (status::is_site_name(site)) return {};
    return base::fail("agent.site", "This cannot be the name of a site", site.substr(0, max_token_name),
                      "use `name` of the agent's site.toml, such as bede-gh200");
}

// What is about all of the registry, or says who may run what: a login node's file has no such right.
constexpr std::array<std::string_view, 4> works_of_operators{catalog::index_action, catalog::audit_action,
                                                             catalog::approve_action, "gc"};

// A one-use code, by which the agent of a site gets its tokens. One that may make tokens would be bound to no
// site, and what it made would outlive it.
base::Status check_enrolment(const NewToken& wanted) {
    WHEELYARD_TRY(check_site(wanted.name));
    for (const std::string& action : wanted.actions) {
        if (action == token_action || action == "*")
            return base::fail("agent.action", "An agent may not make tokens", action,
                              "name the actions that it needs, such as upload and build");
        if (std::find(works_of_operators.begin(), works_of_operators.end(), action) !=
            works_of_operators.end())
            return base::fail(
                "agent.action", "This is an operator's work, and no agent's", action,
                "name the actions that it needs, such as upload and build; a person gets others by "
                "`wheelyard-registry token create`");
    }
    return {};
}

Reply enrol_agent(const ApiParts& parts, const Call& call, const NewToken& wanted) {
    if (const auto may = check_enrolment(wanted); !may) return fail_token(call, may.error());
    const TokenText code = make_token_text();
    const base::UnixMicros now = parts.clock.now();
    auto row = make_token_row(wanted, parts.config->index_names(), code, {call.who().name, {}, now});
    if (!row) return fail_token(call, row.error());
    row = make_agent_code(*std::move(row), code, wanted.name);
    const auto added =
        change_tokens(parts, [&](catalog::Catalog& catalog) { return catalog.add_token(*row); });
    if (!added) return fail_token(call, added.error());
    return reply_with(token_json(*row, now, code.text()));
}

// The code, the renewal and the tokens of the agent.
Reply revoke_agent(const ApiParts& parts, const Call& call, const EnrolledSite& of) {
    if (const auto named = check_site(of.site); !named) return fail_token(call, named.error());
    bool is_enrolled = false;
    const auto done = change_tokens(parts, [&](catalog::Catalog& catalog) {
        return catalog.replace_tokens([&](const std::vector<catalog::TokenRow>& rows) {
            const base::UnixMicros now = parts.clock.now();
            catalog::TokenChange change{.added = {}, .revoked = {}, .cause = {call.who().name, {}, now}};
            for (const catalog::TokenRow& row : rows) {
                if (is_of_agent(row, of.site) && token_state(row, now) == "active")
                    change.revoked.push_back(row.id);
            }
            is_enrolled = !change.revoked.empty();
            return change;
        });
    });
    if (!done) return fail_token(call, done.error());
    if (!is_enrolled)
        return fail_token(call, base::Error{"agent.unknown", "No agent of this site is enrolled", of.site,
                                            "wheelyard-registry token list shows the agents: agent:SITE"});
    return reply_with(revoked_record.write(agent_name(of.site)));
}

// All log-ins of a person, and with them the name that people see.
Reply forget_person(const ApiParts& parts, const Call& call, const KnownPerson& of) {
    if (!is_person(of.person))
        return fail_token(call, base::Error{"token.unknown", "This is not the name of a person",
                                            of.person.substr(0, max_token_name),
                                            "it begins with login: as in the audit log"});
    std::vector<std::string> ids;
    const auto done = change_tokens(parts, [&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const std::vector<catalog::TokenRow> rows, catalog.tokens());
        ids.clear();
        for (const catalog::TokenRow& row : rows) {
            if (is_same_actor(actor_of_token(row), of.person)) ids.push_back(row.id);
        }
        return catalog.drop_tokens(ids);
    });
    if (!done) return fail_token(call, done.error());
    return reply_with(forgotten_record.write({std::string(actor_of(of.person)), ids.size()}));
}

constexpr Right of_token_administrators{.scope = Scope::tokens,
                                        .action = token_action,
                                        .to = "the administration of tokens",
                                        .advice = "the action `token`"};

constexpr std::array token_rows{
    row<of_new_token, create_token>(
        posted("/api/v1/tokens", "createToken", token_document,
               "Creates a token with at most the scope of the caller's, and returns its text once",
               http::BodyKind::json, "wheelyard.token_request/1"),
        "token.body", of_token_administrators),
    row<no_arguments, list_tokens>(got("/api/v1/tokens", "listTokens", io::document_of<tokens_record>,
                                       "Lists the tokens within the scope of the caller's, without secrets"),
                                   "token.body", of_token_administrators),
    row<of_token, revoke_token>(
        posted("/api/v1/tokens/{token}/revoke", "revokeToken", token_document,
               "Revokes a token within the scope of the caller's, or the caller's own", http::BodyKind::json,
               "wheelyard.change/1"),
        "lifecycle.body"),
    row<of_enrolment, enrol_agent>(
        local("enrolAgent", token_document, "Makes a one-use code, by which the agent of a site enrols"),
        "token.body", {.callers = Callers::local}),
    row<of_enrolled, revoke_agent>(local("revokeAgent", io::document_of<revoked_record>,
                                         "Ends the enrolment of a site's agent and all its tokens"),
                                   "token.body", {.callers = Callers::local}),
    row<of_person, forget_person>(local("forgetPerson", io::document_of<forgotten_record>,
                                        "Ends all log-ins of a person and removes the person's name"),
                                  "token.body", {.callers = Callers::local}),
};

}  // namespace

std::span<const OperationRow> token_operations() {
    return token_rows;
}

}  // namespace wheelyard::registry
