// Names of people who logged in, as tokens, the audit log, requests and files have them:
//
//     login:campus:3f2a9c81d04e77b0 Anna Müller
//
// The first word says who it is: the [[identity]] and a hash of the provider's issuer and subject. It stays when the name
// that people see changes, and nobody else gets it when the person leaves. What decides compares it alone.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::registry {

inline constexpr std::string_view person_prefix = "login:";

// `identity`: the name of its table; `shown`: for display.
[[nodiscard]] std::string person_name(std::string_view identity, std::string_view issuer,
                                      std::string_view subject, std::string_view shown);
// Whether the name is that of a log-in. No other token may have such a name (token_rules.hpp).
[[nodiscard]] bool is_person(std::string_view name);
// Whether two names are those of one person, or of one token.
[[nodiscard]] bool is_same_actor(std::string_view a, std::string_view b);

}  // namespace wheelyard::registry
