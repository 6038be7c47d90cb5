// What a token may be, for the command line and the API alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/io/record.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/access/tokens.hpp"

namespace wheelyard::registry {

// Names of the tokens that jobs of continuous integration get for an identity token: publisher:NAME, of a
// [[publisher]] table. No other token may have such a name.
inline constexpr std::string_view publisher_prefix = "publisher:";

[[nodiscard]] inline std::string publisher_name(std::string_view table) {
    return std::string(publisher_prefix).append(table);
}
[[nodiscard]] inline bool is_publisher(std::string_view name) {
    return name.starts_with(publisher_prefix);
}
// The name of the table of such a name.
[[nodiscard]] inline std::string_view publisher_of(std::string_view name) {
    return name.substr(publisher_prefix.size());
}

struct NewToken {
    std::string name;
    std::vector<std::string> indexes;
    std::vector<std::string> projects = {};   // none: all
    std::vector<std::string> actions = {};    // none: upload
    std::optional<std::string> expires = {};  // "90d"; none: never
};

// The row of a new token. `cause` has who creates it, and when. Errors of kind invalid: "token.name",
// "token.no_index", "token.unknown_index", "token.unknown_action", "token.project", "token.lifetime".
[[nodiscard]] base::Result<catalog::TokenRow> make_token_row(const NewToken& wanted,
                                                             const std::vector<std::string>& known_indexes,
                                                             const TokenText& text,
                                                             const catalog::Cause& cause);
// Says whether `inner` permits nothing that `outer` does not. Lifetimes are not compared.
[[nodiscard]] bool is_within(const catalog::TokenRow& inner, const catalog::TokenRow& outer);
// "active", "expired" or "revoked".
[[nodiscard]] std::string token_state(const catalog::TokenRow& row, base::UnixMicros now);
// "wheelyard.token/1". `text`: of a new token, which has the secret; `shown_name`: of the person who logged
// in.
[[nodiscard]] io::Json token_json(const catalog::TokenRow& row, base::UnixMicros now, std::string text = {},
                                  std::string shown_name = {});
[[nodiscard]] io::Document token_document();

}  // namespace wheelyard::registry
