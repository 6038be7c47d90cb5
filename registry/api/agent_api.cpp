// The exchange of an agent's code or renewal for its token.

#include <optional>
#include <utility>

#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view renewal_format = "wheelyard.agent_renewal/1";
constexpr std::size_t max_renewal_depth = 2;

constexpr const char* ask_for_code =
    "ask the registry's administrator for a code (`wheelyard-registry agent enrol SITE --index INDEX`), then "
    "run "
    "`wheelyard-builder enrol`";

tl::unexpected<wire::Problem> refuse_renewal_body(std::string detail) {
    return wire::refuse("agent.body", "The request of an agent has another form", std::move(detail), {},
                        "see docs/reference/api.md");
}

wire::Answered<RenewalRequest> read_renewal(const http::ApiRequest& request) {
    const auto json =
        io::parse_strict_json(request.body, {.bytes = http::max_api_body_bytes, .depth = max_renewal_depth});
    if (!json || json->string_or("format", "") != renewal_format)
        return refuse_renewal_body("The body is no JSON object of the format " + std::string(renewal_format) +
                                   ".");
    const auto held = parse_token_text(json->string_or("credential", ""));
    const auto next = parse_token_text(json->string_or("next", ""));
    if (!held || !next)
        return refuse_renewal_body(held ? "`next` has not the form of a token."
                                        : "`credential` has not the form of a code or a renewal.");
    return RenewalRequest{json->string_or("site", ""), *held, *next};
}

// An agent that is known waits for no stranger.
std::string owner_of_renewal(const ApiParts& parts, const http::ApiRequest& request) {
    const auto asked = read_renewal(request);
    if (!asked) return {};
    const auto is_known = parts.tokens.knows_credential(asked->held);
    return is_known && *is_known ? "agent:" + asked->held.id : std::string();
}

wire::Answered<void> refuse_verdict(RenewalVerdict verdict, const RenewalRequest& asked) {
    const std::string name = agent_name(asked.site).substr(0, max_token_name);
    switch (verdict) {
        case RenewalVerdict::renew:
        case RenewalVerdict::repeat:
            return {};
        case RenewalVerdict::unknown:
            return wire::refuse("agent.unknown", "The registry does not know this code or renewal",
                                "No enrolment has this code or renewal. After the registry was restored from "
                                "a backup, agents enrol again.",
                                asked.held.id, ask_for_code);
        case RenewalVerdict::other_site:
            return wire::refuse("agent.site", "This code or renewal is for another site",
                                "The site of the request is not the one that the administrator named.",
                                asked.site.substr(0, max_token_name),
                                "correct `name` in site.toml, or ask for a code for this name");
        case RenewalVerdict::ended:
            return wire::refuse("agent.ended", "This enrolment has ended",
                                "The code or renewal expired, or the agent was revoked.", asked.held.id,
                                ask_for_code);
        case RenewalVerdict::used_code:
            return wire::refuse("agent.code_used", "This code was used before",
                                "A code enrols once. If nobody of yours has used it, somebody else has it.",
                                asked.held.id,
                                "ask the administrator: `wheelyard-registry agent revoke " + asked.site +
                                    "` ends that enrolment, and `agent enrol` makes another code");
        case RenewalVerdict::reused:
            return wire::refuse(
                "agent.reused", "Two have the renewal of this agent",
                "This renewal was replaced before by another one, so it was copied. The agent " + name +
                    " is revoked.",
                asked.held.id, std::string("find the copy; then ") + ask_for_code);
        case RenewalVerdict::taken:
            return wire::refuse("agent.next_taken", "The next renewal is not new", "Its ID is taken.",
                                asked.next.id, "make another one and send it");
        case RenewalVerdict::too_many:
            return wire::refuse("agent.too_many", "This agent renews too often",
                                "The registry keeps " + std::to_string(max_rows_of_agent) +
                                    " tokens and renewals of an agent.",
                                name, ask_for_code);
    }
    return {};
}

Reply renew_agent(const ApiParts& parts, const Call& call, const NoArguments&) {
    const http::ApiRequest& request = call.request;
    const auto asked = read_renewal(request);
    if (!asked) return tl::unexpected(asked.error());
    const base::UnixMicros now = parts.clock.now();
    const TokenText token = make_token_text();
    Renewal renewal;
    catalog::TokenChange change;
    // Anybody may send this: what nobody has costs the writer nothing.
    const auto is_known = parts.tokens.knows_credential(asked->held);
    if (!is_known) return tl::unexpected(is_known.error());
    const auto done =
        !*is_known ? base::Status() : parts.writer.run([&](catalog::Catalog& catalog) -> base::Status {
            return catalog.replace_tokens([&](const std::vector<catalog::TokenRow>& rows) {
                renewal = judge_renewal(rows, *asked, now);
                change = change_of_renewal(rows, *asked, renewal, token, now);
                return change;
            });
        });
    if (!done) {
        io::log_warn("agent.not_kept", {{"request", request.request_id}, {"error", done.error().text()}});
        return tl::unexpected(problem_of_change(done.error()));
    }
    if (auto good = refuse_verdict(renewal.verdict, *asked); !good) {
        io::log_warn("agent.refused", {{"request", request.request_id},
                                       {"client", request.client},
                                       {"id", asked->held.id},
                                       {"name", renewal.held.name},
                                       {"code", good.error().code}});
        return tl::unexpected(std::move(good.error()));
    }
    const catalog::TokenRow& made = change.added.front();
    io::log_info(
        "agent.renewed",
        {{"request", request.request_id}, {"id", made.id}, {"name", made.name}, {"with", renewal.held.id}});
    return reply_with(token_json(made, now, token.text()));
}

constexpr auto of_renewal = arguments<NoArguments>({
    in_document("site", "The name of the site", true),
    in_document("credential", "The code of the enrolment, or the last renewal", true),
    in_document("next", "The renewal that follows, made by the agent", true),
});

// The credentials are in the body; programs send what ~/.netrc has.
constexpr std::array agent_rows{
    row<of_renewal, renew_agent>(
        in_pool(http::StrangersPool::renewal,
                open_to_all(posted("/api/v1/agents/renew", "renewAgent", token_document,
                                   "Exchanges an enrolment code or a renewal, once, for a token of the agent "
                                   "and its next renewal",
                                   http::BodyKind::document, renewal_format))),
        "agent.body", {.callers = Callers::nobody}, Stores::no, owner_of_renewal),
};

}  // namespace

std::span<const OperationRow> agent_operations() {
    return agent_rows;
}

}  // namespace wheelyard::registry
