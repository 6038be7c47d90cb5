// What a token may be, and what a request for one must be.
#include "registry/access/token_rules.hpp"

#include <doctest/doctest.h>

#include "registry/access/limits.hpp"

namespace wheelyard::registry {
namespace {

const std::vector<std::string> indexes = {"bede", "staging"};
const TokenText text{.id = "wy_5f0c9a31d2be", .secret = std::string(64, '0')};
constexpr base::UnixMicros now = 1'700'000'000'000'000;

base::Result<catalog::TokenRow> row_of(const NewToken& wanted) {
    return make_token_row(wanted, indexes, text, {.actor = "local:root", .reason = {}, .time = now});
}

std::string code_of(const NewToken& wanted) {
    const auto row = row_of(wanted);
    return row ? "" : row.error().code;
}

TEST_CASE("a token uploads to all projects of its indexes, for ever, unless its wanted says otherwise") {
    const auto row = row_of({.name = "agent", .indexes = {"bede"}}).value();
    CHECK(row.projects == std::vector<std::string>{"*"});
    CHECK(row.actions == std::vector<std::string>{"upload"});
    CHECK(row.expires == 0);
    CHECK(row.created == now);
    CHECK(row.created_by == "local:root");
    CHECK(row.secret_sha256 == hash_token_secret(text.secret));

    const auto narrow =
        row_of({.name = "agent", .indexes = {"*"}, .projects = {"My_Torch", "*"}, .expires = "12h"}).value();
    CHECK(narrow.projects == std::vector<std::string>{"my-torch", "*"});
    CHECK(narrow.expires == now + 12ll * 3600 * 1'000'000);
}

TEST_CASE("what a token cannot be") {
    for (const auto& [wanted, code] : {
             std::pair(NewToken{.name = std::string(max_token_name, 'x'), .indexes = {"bede"}}, ""),
             std::pair(NewToken{.name = std::string(max_token_name + 1, 'x'), .indexes = {"bede"}},
                       "token.name"),
             std::pair(NewToken{.name = "", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "two\nlines", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "a\x7F", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "Publisher: solver", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "local:root", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "Upstream:pypi", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = " VERIFY ", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "LOCAL : root", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "lo\u200bcal:root", .indexes = {"bede"}},
                       "token.name"),  // of no width
             std::pair(NewToken{.name = "\u2066login:campus:0123456789abcdef Anna", .indexes = {"bede"}},
                       "token.name"),
             std::pair(NewToken{.name = "M\u00fcller: nightly", .indexes = {"bede"}}, "token.name"),
             std::pair(NewToken{.name = "verifier of wheels", .indexes = {"bede"}}, ""),
             std::pair(NewToken{.name = "x", .indexes = {}}, "token.no_index"),
             std::pair(NewToken{.name = "x", .indexes = {"bedee"}}, "token.unknown_index"),
             std::pair(NewToken{.name = "x", .indexes = {"bede"}, .projects = {"no name"}}, "token.project"),
             std::pair(NewToken{.name = "x", .indexes = {"bede"}, .actions = {"fly"}},
                       "token.unknown_action"),
             std::pair(NewToken{.name = "x", .indexes = {"bede"}, .expires = "soon"}, "token.lifetime"),
             std::pair(NewToken{.name = "x", .indexes = {"bede"}, .expires = ""}, "token.lifetime"),
         }) {
        CAPTURE(wanted.name);
        CHECK(code_of(wanted) == code);
    }
}

TEST_CASE("a token may make only tokens that permit no more than itself") {
    catalog::TokenRow outer;
    outer.indexes = {"bede", "staging"};
    outer.projects = {"torch"};
    outer.actions = {"*"};
    catalog::TokenRow inner;
    inner.indexes = {"bede"};
    inner.projects = {"torch"};
    inner.actions = {"upload"};
    CHECK(is_within(inner, outer));
    CHECK_FALSE(is_within(outer, inner));
    inner.projects = {"torch", "numpy"};
    CHECK_FALSE(is_within(inner, outer));
    inner.projects = {"*"};
    CHECK_FALSE(is_within(inner, outer));
}

TEST_CASE("a token is active until it is revoked or its time has come") {
    catalog::TokenRow row;
    row.expires = now;
    CHECK(token_state(row, now - 1) == "active");
    CHECK(token_state(row, now) == "expired");
    row.revoked = true;
    CHECK(token_state(row, now - 1) == "revoked");
    CHECK(token_state(catalog::TokenRow{}, now) == "active");
}

}  // namespace
}  // namespace wheelyard::registry
