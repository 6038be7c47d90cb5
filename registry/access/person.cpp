#include "registry/access/person.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/base/digest/digest.hpp"
#include "lib/base/process/user.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/token_rules.hpp"

namespace wheelyard::registry {

namespace {

// What an agent has replaced stays so long: within it a second use is noticed.
constexpr std::int64_t replaced_renewals_kept_days = 30;
// A log-in that ended stays listed so long, and the last one of a person longer: its name is that in the
// audit log.
constexpr std::int64_t ended_log_ins_kept_days = 30;
constexpr std::int64_t names_kept_days = 365;
constexpr std::size_t person_digits = 16;  // of a hash: 64 bits tell the people of a site apart

base::UnixMicros end_of(const catalog::TokenRow& token) {
    return token.revoked ? std::min(token.revoked_at, token.expires) : token.expires;
}

}  // namespace

std::string_view actor_of(std::string_view name) {
    return is_person(name) ? name.substr(0, name.find(' ')) : name;
}

std::string_view shown_name_of(std::string_view name) {
    const std::size_t space = name.find(' ');
    return is_person(name) && space != std::string_view::npos ? name.substr(space + 1) : std::string_view();
}

ShownNames shown_names(const std::vector<catalog::TokenRow>& tokens) {
    ShownNames names;
    for (const catalog::TokenRow& token : tokens) {
        if (const std::string_view shown = shown_name_of(token.name); !shown.empty())
            names.insert_or_assign(std::string(actor_of(token.name)), std::string(shown));
    }
    return names;
}

std::string with_shown_name(const std::string& name, const ShownNames& names) {
    const auto known = names.find(name);
    return known == names.end() ? name : name + " " + known->second;
}

std::string person_name(std::string_view identity, std::string_view issuer, std::string_view subject,
                        std::string_view shown) {
    std::string both(issuer);
    both.append(1, '\0').append(subject);
    std::string name(person_prefix);
    name.append(identity).append(":").append(base::sha256_hex(both).substr(0, person_digits));
    if (!shown.empty()) name.append(" ").append(shown);
    return name;
}

std::string_view identity_of(std::string_view name) {
    if (!name.starts_with(person_prefix)) return {};
    const std::string_view word = name.substr(person_prefix.size(), name.find(' ') - person_prefix.size());
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) return {};
    const std::string_view hash = word.substr(colon + 1);
    const bool is_hash =
        hash.size() == person_digits && hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return is_hash ? word.substr(0, colon) : std::string_view();
}

bool is_person(std::string_view name) {
    return !identity_of(name).empty();
}

bool is_same_actor(std::string_view a, std::string_view b) {
    return actor_of(a) == actor_of(b);
}

std::string_view actor_of_token(const catalog::TokenRow& token) {
    return actor_of(is_person(token.created_by) ? token.created_by : token.name);
}

base::Result<bool> revoke_with_made(catalog::Catalog& catalog, std::string_view id,
                                    const catalog::Cause& cause) {
    bool is_known = false;
    WHEELYARD_TRY(catalog.replace_tokens([&](const std::vector<catalog::TokenRow>& tokens) {
        catalog::TokenChange change{.added = {}, .revoked = {}, .cause = cause};
        const auto revoked =
            std::find_if(tokens.begin(), tokens.end(), [id](const auto& token) { return token.id == id; });
        is_known = revoked != tokens.end();
        if (!is_known) return change;
        const std::string_view site = site_of_agent(revoked->name);
        for (const catalog::TokenRow& token : tokens) {
            const bool is_made = is_person(revoked->name) && is_same_actor(token.created_by, revoked->name);
            const bool is_of_same_agent = !site.empty() && is_of_agent(token, site);
            if (!token.revoked && (token.id == id || is_made || is_of_same_agent))
                change.revoked.push_back(token.id);
        }
        return change;
    }));
    return is_known;
}

std::vector<std::string> log_ins_to_drop(const std::vector<catalog::TokenRow>& tokens, base::UnixMicros now) {
    std::map<std::string_view, const catalog::TokenRow*> last;  // of each person
    for (const catalog::TokenRow& token : tokens) {
        if (!is_person(token.name)) continue;
        const catalog::TokenRow*& known = last[actor_of(token.name)];
        if (known == nullptr || end_of(*known) < end_of(token)) known = &token;
    }
    std::vector<std::string> ids;
    for (const catalog::TokenRow& token : tokens) {
        // One without an end is an operator's, of an earlier version.
        const bool is_of_job = is_publisher(token.name) && token.expires != 0;
        if (is_of_job && token.expires + ended_publisher_tokens_kept_days * base::day_us <= now)
            ids.push_back(token.id);
        const bool is_token_of_agent = !site_bound_to(token).empty();
        const std::int64_t agent_days =
            is_token_of_agent ? ended_publisher_tokens_kept_days : replaced_renewals_kept_days;
        const bool is_agents_row = is_token_of_agent || agent_row_of(token.name) == AgentRow::code ||
                                   agent_row_of(token.name) == AgentRow::renewal;
        if (is_agents_row && end_of(token) + agent_days * base::day_us <= now) ids.push_back(token.id);
        if (!is_person(token.name)) continue;
        const bool is_last = last[actor_of(token.name)] == &token;
        const base::UnixMicros kept = (is_last ? names_kept_days : ended_log_ins_kept_days) * base::day_us;
        if (end_of(token) + kept <= now) ids.push_back(token.id);
    }
    return ids;
}

std::string local_actor() {
    return local_actor(::geteuid());
}

std::string local_actor(uid_t user) {
    return "local:" + base::user_name(user);
}

}  // namespace wheelyard::registry
