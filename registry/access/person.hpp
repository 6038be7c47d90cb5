// Names of people who logged in. Their tokens are named
//
//     login:campus:3f2a9c81d04e77b0 Anna Müller
//
// The first word says who it is: the [[identity]] and a hash of the provider's issuer and subject. It stays
// when the name that people see changes, and nobody else gets it when the person leaves. What decides
// compares it alone, and the audit log, requests and files have it alone: the name that people see lies in
// the rows of tokens, which can be removed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::registry {

inline constexpr std::string_view person_prefix = "login:";

// `identity`: the name of its table; `shown`: for display.
[[nodiscard]] std::string person_name(std::string_view identity, std::string_view issuer,
                                      std::string_view subject, std::string_view shown);
// Says whether the name is that of a log-in: login:IDENTITY: and a hash. No other token may have such a name
// (token_rules.hpp).
[[nodiscard]] bool is_person(std::string_view name);
// The [[identity]] of a person's name; empty: it is no person's.
[[nodiscard]] std::string_view identity_of(std::string_view name);
// The first word of a person's name; any other name as it is.
[[nodiscard]] std::string_view actor_of(std::string_view name);
// The name that people see; empty: it has none, or is no person's.
[[nodiscard]] std::string_view shown_name_of(std::string_view name);
// What people are called, by the first word of their name, as far as their log-ins are kept:
// "login:campus:3f2a9c81d04e77b0" → "Anna Müller".
using ShownNames = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] ShownNames shown_names(const std::vector<catalog::TokenRow>& tokens);
// The name, and after a space what its person is called, if that is known.
[[nodiscard]] std::string with_shown_name(const std::string& name, const ShownNames& names);
// Says whether two names are those of one person, or of one token.
[[nodiscard]] bool is_same_actor(std::string_view a, std::string_view b);

// Who acts with a token: a person, also with a token that the person made, so that nobody is two; otherwise
// its name.
[[nodiscard]] std::string_view actor_of_token(const catalog::TokenRow& token);
// Revokes a token, with a log-in the tokens that its person made, and with a row of an agent all that the
// agent has. False: there is no such token.
[[nodiscard]] base::Result<bool> revoke_with_made(catalog::Catalog& catalog, std::string_view id,
                                                  const catalog::Cause& cause);

// The log-ins to remove: those that ended `ended_log_ins_kept_days` ago, and the last one of a person, for
// its name, `names_kept_days` after its end; the tokens of jobs that have expired, burnt or not, and those of
// agents that enrolled, for `ended_publisher_tokens_kept_days`; what agents have replaced, for
// `replaced_renewals_kept_days`. Pure.
[[nodiscard]] std::vector<std::string> log_ins_to_drop(const std::vector<catalog::TokenRow>& tokens,
                                                       base::UnixMicros now);

// The actor that the audit log records for commands that run on the data folder without a token:
// "local:USER", or "local:UID" if the user has no name.

[[nodiscard]] std::string local_actor();
[[nodiscard]] std::string local_actor(uid_t user);

}  // namespace wheelyard::registry
