// Agents that enrolled (docs/how-to/enrol-an-agent.md): what the rows of one are, and what follows when one
// asks for a token.
//
//     agent:bede-gh200 code       of `wheelyard-registry agent enrol`: gives a renewal, once
//     agent:bede-gh200 renewal    gives a token and the next renewal; created_by: the ID of the row before it
//     agent:bede-gh200            its tokens; the name in the audit log, for quotas and for the files
//
// The catalog has the secrets of codes and renewals under a hash of their own, so that nothing takes one for
// a token.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/tasks/task_rows.hpp"
#include "registry/access/tokens.hpp"

namespace wheelyard::registry {

inline constexpr std::string_view agent_prefix = tasks::enrolled_prefix;
enum class AgentRow { none, code, renewal, token };

[[nodiscard]] std::string agent_name(std::string_view site);
// What a row of this name is, of an agent.
[[nodiscard]] AgentRow agent_row_of(std::string_view name);
// The site of such a name; empty: it is no agent's.
[[nodiscard]] std::string_view site_of_agent(std::string_view name);
// The site that alone a token may speak for; empty: any. An operator's token of an earlier version may have
// such a name.
[[nodiscard]] std::string_view site_bound_to(const catalog::TokenRow& token);
// Under which name the caller has tasks (tasks::TaskRow): one that outlasts the renewals of an agent's token.
[[nodiscard]] std::string holder_of(const catalog::TokenRow& token);
// Says whether the row is the agent's, or a token that the agent made.
[[nodiscard]] bool is_of_agent(const catalog::TokenRow& row, std::string_view site);
// Says whether the agent has replaced it: lists leave it out. Such rows stay for a while, so that a second
// use is noticed.
[[nodiscard]] bool is_replaced(const catalog::TokenRow& row, base::UnixMicros now);

[[nodiscard]] std::string hash_agent_secret(std::string_view secret);
// Says whether the row is the code or the renewal of this text, in force or not.
[[nodiscard]] bool is_credential(const catalog::TokenRow& row, const TokenText& text);
// The row of a code. `scope`: the row of a token with the indexes, projects and actions of the agent.
[[nodiscard]] catalog::TokenRow make_agent_code(const catalog::TokenRow& scope, const TokenText& code,
                                                std::string_view site);

// What an agent sends. It made `next` itself and has it on disk: after a crash it sends the same again.
struct RenewalRequest {
    std::string site;
    TokenText held;  // a code, or the renewal that it has
    TokenText next;
};
enum class RenewalVerdict {
    renew,       // the first use
    repeat,      // the same again: the answer was lost
    unknown,     // no such code or renewal
    other_site,  // it is for another site
    ended,       // it expired, or was revoked
    used_code,   // somebody has used the code
    reused,      // a renewal that was replaced: two have it
    taken,       // the ID of `next` is not new
    too_many,    // rows of this agent
};
struct Renewal {
    RenewalVerdict verdict = RenewalVerdict::unknown;
    catalog::TokenRow held = {};  // unless unknown
};
[[nodiscard]] Renewal judge_renewal(const std::vector<catalog::TokenRow>& rows, const RenewalRequest& asked,
                                    base::UnixMicros now);

// What the verdict does to the rows: something for renew, repeat and reused. `token`: the text of the new
// token, whose row is the first one added. The actor tells the second use of a renewal apart: the renewal's
// name instead of the agent's.
[[nodiscard]] catalog::TokenChange change_of_renewal(const std::vector<catalog::TokenRow>& rows,
                                                     const RenewalRequest& asked, const Renewal& renewal,
                                                     const TokenText& token, base::UnixMicros now);

}  // namespace wheelyard::registry
