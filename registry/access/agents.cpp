// A renewal is used once. An agent that lost the answer sends the same successor again; another successor is
// another holder.
#include "registry/access/agents.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "registry/access/limits.hpp"

namespace wheelyard::registry {
namespace {

// Agents: a code is pasted by hand; a token outlives the ticks and uploads between two renewals; a site may
// be away for maintenance.
constexpr std::int64_t agent_code_life_s = 60 * 60;
constexpr std::int64_t agent_token_life_s = 12 * 60 * 60;
constexpr std::int64_t agent_renewal_life_s = 60 * 24 * 60 * 60;

struct Word {
    AgentRow row;
    std::string_view end;  // of the name
};
constexpr std::array words{Word{AgentRow::code, " code"}, Word{AgentRow::renewal, " renewal"}};

bool has_secret(const catalog::TokenRow& row, const TokenText& text) {
    return row.id == text.id &&
           base::equals_in_constant_time(row.secret_sha256, hash_agent_secret(text.secret));
}

bool is_active(const catalog::TokenRow& row, base::UnixMicros now) {
    return !row.revoked && row.expires > now;
}

using Row = std::vector<catalog::TokenRow>::const_iterator;

// The renewal that replaced it; end: none did.
Row successor_of(const std::vector<catalog::TokenRow>& rows, const catalog::TokenRow& held) {
    return std::find_if(rows.begin(), rows.end(), [&](const catalog::TokenRow& row) {
        return row.created_by == held.id && agent_row_of(row.name) == AgentRow::renewal;
    });
}

// Says whether the agent that has this renewal is still enrolled with it, or with one that follows it. Each
// step is to another row: at most max_rows_of_agent. A later enrolment of the same name follows from a code
// instead.
bool leads_to_active(const std::vector<catalog::TokenRow>& rows, Row renewal, base::UnixMicros now) {
    for (std::size_t steps = 0; steps < max_rows_of_agent && renewal != rows.end(); ++steps) {
        if (is_active(*renewal, now)) return true;
        renewal = successor_of(rows, *renewal);
    }
    return false;
}

// A row with the scope of `held`.
catalog::TokenRow row_like(const catalog::TokenRow& held, const TokenText& text, std::string secret_sha256,
                           std::string name, base::UnixMicros now, std::int64_t life_s) {
    catalog::TokenRow row = held;
    row.id = text.id;
    row.secret_sha256 = std::move(secret_sha256);
    row.name = std::move(name);
    row.created = now;
    row.expires = now + life_s * base::second_us;
    row.revoked = false;
    row.revoked_by.clear();
    row.revoked_at = 0;
    return row;
}

}  // namespace

std::string agent_name(std::string_view site) {
    return std::string(agent_prefix).append(site);
}

AgentRow agent_row_of(std::string_view name) {
    if (!name.starts_with(agent_prefix)) return AgentRow::none;
    const auto* word =
        std::find_if(words.begin(), words.end(), [&](const Word& one) { return name.ends_with(one.end); });
    return word == words.end() ? AgentRow::token : word->row;
}

std::string_view site_of_agent(std::string_view name) {
    if (!name.starts_with(agent_prefix)) return {};
    const std::string_view rest = name.substr(agent_prefix.size());
    return rest.substr(0, rest.find(' '));
}

std::string_view site_bound_to(const catalog::TokenRow& token) {
    return token.created_by == token.name ? site_of_agent(token.name) : std::string_view();
}

std::string holder_of(const catalog::TokenRow& token) {
    return site_bound_to(token).empty() ? token.id : token.name;
}

bool is_of_agent(const catalog::TokenRow& row, std::string_view site) {
    return site_of_agent(row.name) == site || row.created_by == agent_name(site);
}

bool is_replaced(const catalog::TokenRow& row, base::UnixMicros now) {
    if (agent_row_of(row.name) == AgentRow::none) return false;
    if (row.revoked) return row.revoked_by == agent_name(site_of_agent(row.name));
    return !site_bound_to(row).empty() && row.expires <= now;
}

std::string hash_agent_secret(std::string_view secret) {
    return base::sha256_hex(std::string("agent ").append(secret));
}

bool is_credential(const catalog::TokenRow& row, const TokenText& text) {
    const AgentRow kind = agent_row_of(row.name);
    return (kind == AgentRow::code || kind == AgentRow::renewal) && has_secret(row, text);
}

catalog::TokenRow make_agent_code(const catalog::TokenRow& scope, const TokenText& code,
                                  std::string_view site) {
    return row_like(scope, code, hash_agent_secret(code.secret), agent_name(site) + " code", scope.created,
                    agent_code_life_s);
}

Renewal judge_renewal(const std::vector<catalog::TokenRow>& rows, const RenewalRequest& asked,
                      base::UnixMicros now) {
    using enum RenewalVerdict;
    const auto held = std::find_if(rows.begin(), rows.end(), [&](const catalog::TokenRow& row) {
        return is_credential(row, asked.held);
    });
    if (held == rows.end()) return {};
    const auto verdict = [&held](RenewalVerdict said) { return Renewal{said, *held}; };
    if (site_of_agent(held->name) != asked.site) return verdict(other_site);
    const auto successor = successor_of(rows, *held);
    const auto of_agent = std::count_if(rows.begin(), rows.end(), [&](const catalog::TokenRow& row) {
        return site_of_agent(row.name) == asked.site;
    });
    const bool is_full = static_cast<std::size_t>(of_agent) >= max_rows_of_agent;
    if (successor == rows.end()) {
        if (!is_active(*held, now)) return verdict(ended);
        const bool is_taken = std::any_of(
            rows.begin(), rows.end(), [&](const catalog::TokenRow& row) { return row.id == asked.next.id; });
        // A code is an operator's: it works where renewals have used the places up.
        const bool is_too_many = is_full && agent_row_of(held->name) == AgentRow::renewal;
        return verdict(is_taken ? taken : is_too_many ? too_many : renew);
    }
    if (is_active(*successor, now) && has_secret(*successor, asked.next))
        return verdict(is_full ? too_many : repeat);
    if (agent_row_of(held->name) == AgentRow::code) return verdict(used_code);
    return verdict(leads_to_active(rows, successor, now) ? reused : ended);
}

catalog::TokenChange change_of_renewal(const std::vector<catalog::TokenRow>& rows,
                                       const RenewalRequest& asked, const Renewal& renewal,
                                       const TokenText& token, base::UnixMicros now) {
    const RenewalVerdict verdict = renewal.verdict;
    const bool is_reused = verdict == RenewalVerdict::reused;
    if (!is_reused && verdict != RenewalVerdict::renew && verdict != RenewalVerdict::repeat) return {};
    const std::string name = agent_name(asked.site);
    catalog::TokenChange change{.added = {}, .revoked = {}, .cause = {name, {}, now}};
    const bool is_enrolment =
        verdict == RenewalVerdict::renew && agent_row_of(renewal.held.name) == AgentRow::code;
    for (const catalog::TokenRow& row : rows) {
        // One agent has the name: a new enrolment ends the one before.
        const bool is_all = (is_reused || is_enrolment) && is_of_agent(row, asked.site);
        if (!row.revoked && (is_all || (row.id == renewal.held.id && !is_reused)))
            change.revoked.push_back(row.id);
    }
    if (is_reused) {
        change.cause.actor = renewal.held.name;
        return change;
    }
    change.added.push_back(
        row_like(renewal.held, token, hash_token_secret(token.secret), name, now, agent_token_life_s));
    change.added.back().created_by = name;
    if (verdict == RenewalVerdict::repeat) return change;
    change.added.push_back(row_like(renewal.held, asked.next, hash_agent_secret(asked.next.secret),
                                    name + " renewal", now, agent_renewal_life_s));
    change.added.back().created_by = renewal.held.id;
    return change;
}

}  // namespace wheelyard::registry
