// What a token may be, for the command line and the API alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/access/tokens.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::registry {

struct NewToken {
    std::string name;
    std::vector<std::string> indexes;
    std::vector<std::string> projects = {};   // none: all
    std::vector<std::string> actions = {};    // none: upload
    std::optional<std::string> expires = {};  // "90d"; none: never
};

// The row of a new token. `cause` has who creates it, and when. Errors of kind invalid: "token.name", "token.no_index",
// "token.unknown_index", "token.unknown_action", "token.project", "token.lifetime".
[[nodiscard]] base::Result<catalog::TokenRow> make_token_row(const NewToken& wanted,
                                                             const std::vector<std::string>& known_indexes,
                                                             const TokenText& text,
                                                             const catalog::Cause& cause);
// Whether `inner` permits nothing that `outer` does not. Lifetimes are not compared.
[[nodiscard]] bool is_within(const catalog::TokenRow& inner, const catalog::TokenRow& outer);
// "active", "expired" or "revoked".
[[nodiscard]] std::string token_state(const catalog::TokenRow& row, base::UnixMicros now);
// "wheelyard.token/1": never with the secret or its hash.
[[nodiscard]] io::Json token_json(const catalog::TokenRow& row, base::UnixMicros now);

}  // namespace wheelyard::registry
