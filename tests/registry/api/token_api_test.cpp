// Tokens over HTTP: nobody gets more than they have, nobody sees or revokes beyond their scope.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/io/json.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/token_rules.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

constexpr base::UnixMicros day = 24LL * 3600 * 1'000'000;

struct TokenFixture : RegistryFixture {
    registry::Api api{parts()};

    wire::Answered<http::ApiReply> ask(const std::string& operation, const std::string& caller,
                                       const std::string& body = {}, const std::string& id = {}) {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters.emplace("token", id);
        request.authorization = "Bearer " + caller;
        request.body = body;
        return api.answer(request);
    }
    // "200" or "403 token.scope".
    static std::string said(const wire::Answered<http::ApiReply>& answer) {
        return answer ? "200" : std::to_string(answer.error().status) + " " + answer.error().code;
    }
    std::string create(const std::string& caller, const std::string& members) {
        return said(ask("createToken", caller, body(members)));
    }
    std::string revoke(const std::string& caller, const std::string& id) {
        return said(ask("revokeToken", caller, R"({"format":"wheelyard.change/1","reason":"leaked"})", id));
    }
    static std::string body(const std::string& members) {
        return R"({"format":"wheelyard.token_request/1",)" + members + "}";
    }
    static std::string id_of(const std::string& text) { return text.substr(0, registry::token_id_length); }
};

constexpr const char* six_in_main = R"("name":"ci","indexes":["main"],"projects":["Six"])";

}  // namespace

TEST_CASE("a new token works at once, has the scope that was asked for, and who created it") {
    TokenFixture farm;
    const std::string admin = farm.make_token("admin", {"main"}, {"*"}, {"token", "upload"});
    const auto answer = farm.ask("createToken", admin, farm.body(six_in_main));
    REQUIRE(answer.has_value());
    const auto json = io::parse_json(answer->json).value();
    CHECK(json.string_or("format", "") == "wheelyard.token/1");
    const auto identity = farm.tokens->verify("Bearer " + json.string_or("token", ""));
    REQUIRE(identity.has_value());
    CHECK(identity->id == json.string_or("id", ""));
    CHECK(identity->indexes == std::vector<std::string>{"main"});
    CHECK(identity->projects == std::vector<std::string>{"six"});
    CHECK(identity->actions == std::vector<std::string>{"upload"});
    CHECK(identity->created_by == "admin");
}

TEST_CASE("a token without a lifetime of its own ends with its creator's") {
    TokenFixture farm;
    const std::string admin =
        farm.make_token("admin", {"main"}, {"six"}, {"token", "upload"}, farm.clock.now() + 10 * day);
    CHECK(farm.create(admin, R"("name":"a","indexes":["main"],"projects":["six"],"expires":"9d")") == "200");
    CHECK(farm.create(admin, R"("name":"b","indexes":["main"],"projects":["six"])") == "200");
    const auto tokens = farm.cli.tokens().value();
    for (const auto& made : tokens)
        if (made.name == "b") CHECK(made.expires == farm.clock.now() + 10 * day);
}

TEST_CASE(
    "each action, index, project and life beyond the maker's is refused, alone and beside what the maker "
    "has") {
    TokenFixture farm;
    farm.config.indexes.push_back(farm.config.indexes.front());
    farm.config.indexes.back().name = "other";
    std::vector<std::string> actions = registry::token_actions();
    actions.emplace_back("*");
    for (const std::string& own : registry::token_actions()) {
        CAPTURE(own);
        const std::string maker =
            farm.make_token("maker of " + own, {"main"}, {"six"}, {"token", own}, farm.clock.now() + day);
        for (const std::string& wanted : actions) {
            CAPTURE(wanted);
            const bool is_own = wanted == own || wanted == "token";
            for (const std::string& list : {"\"" + wanted + "\"", "\"token\",\"" + wanted + "\""})
                CHECK(farm.create(maker, R"("name":"made of )" + own +
                                             R"(","indexes":["main"],"projects":["six"],"actions":[)" + list +
                                             "]") == (is_own ? "200" : "403 token.scope"));
        }
    }
    const std::string maker =
        farm.make_token("maker", {"main"}, {"six"}, {"token", "upload"}, farm.clock.now() + day);
    const std::size_t before = farm.cli.tokens()->size();
    for (const char* scope :
         {R"("indexes":["other"],"projects":["six"])", R"("indexes":["main","other"],"projects":["six"])",
          R"("indexes":["*"],"projects":["six"])", R"("indexes":["main","*"],"projects":["six"])",
          R"("indexes":["main"])", R"("indexes":["main"],"projects":["*"])",
          R"("indexes":["main"],"projects":["six","*"])", R"("indexes":["main"],"projects":["sixes"])",
          R"("indexes":["main"],"projects":["six","seven"])",
          R"("indexes":["main"],"projects":["six"],"expires":"25h")",
          R"("indexes":["main"],"projects":["six"],"expires":"100000w")"}) {
        CAPTURE(scope);
        CHECK(farm.create(maker, std::string(R"("name":"a",)") + scope) == "403 token.scope");
    }
    for (const char* scope : {R"("indexes":[],"projects":["six"])", R"("indexes":["main"],"projects":[])",
                              R"("indexes":["main"],"projects":["six"],"actions":[])"}) {
        CAPTURE(scope);
        CHECK(farm.create(maker, std::string(R"("name":"a",)") + scope) == "400 token.body");
    }
    CHECK(farm.cli.tokens()->size() == before);
    // What it made can make no more than itself.
    const auto made = farm.ask(
        "createToken", maker,
        farm.body(R"("name":"b","indexes":["main"],"projects":["six"],"actions":["token"],"expires":"2h")"));
    const std::string child = io::parse_json(made->json)->string_or("token", "");
    CHECK(farm.create(child, R"("name":"c","indexes":["main"],"projects":["six"],"actions":["upload"])") ==
          "403 token.scope");
    CHECK(farm.create(
              child,
              R"("name":"c","indexes":["main"],"projects":["six"],"actions":["token"],"expires":"3h")") ==
          "403 token.scope");
    // Neither sees nor ends what is beyond its scope.
    const std::string other = farm.make_token("elsewhere", {"other"}, {"six"}, {"upload"});
    CHECK(farm.revoke(maker, farm.id_of(other)) == "404 token.unknown");
    CHECK(farm.ask("listTokens", maker)->json.find(farm.id_of(other)) == std::string::npos);
}

TEST_CASE("a request that is malformed or names what does not exist is refused") {
    TokenFixture farm;
    const std::string admin = farm.make_token("admin", {"*"}, {"*"}, {"*"});
    struct Row {
        const char* members;
        const char* said;
    };
    for (const Row& row :
         {Row{R"("name":"a")", "400 token.no_index"},
          Row{R"("name":"","indexes":["main"])", "400 token.name"},
          Row{R"("name":"a\nb","indexes":["main"])", "400 token.name"},
          Row{R"("name":"local:root","indexes":["main"])", "400 token.name"},
          Row{R"("name":"a","indexes":["mian"])", "400 token.unknown_index"},
          Row{R"("name":"a","indexes":["main"],"actions":["rule"])", "400 token.unknown_action"},
          Row{R"("name":"a","indexes":["main"],"projects":["../x"])", "400 token.project"},
          Row{R"("name":"a","indexes":["main"],"expires":"soon")", "400 token.lifetime"},
          Row{R"("name":"a","indexes":"main")", "400 token.body"},
          Row{R"("name":"a","indexes":[1])", "400 token.body"},
          Row{R"("name":"a","indexes":["main"],"projects":[])", "400 token.body"},
          Row{R"("name":["a"],"indexes":["main"])", "400 token.body"}}) {
        CAPTURE(row.members);
        CHECK(farm.create(admin, row.members) == row.said);
    }
    CHECK(farm.said(farm.ask("createToken", admin, "[]")) == "400 token.body");
    CHECK(farm.said(farm.ask("createToken", admin, R"({"format":"wheelyard.token/1"})")) == "400 token.body");
    CHECK(farm.cli.tokens().value().size() == 2);
}

TEST_CASE("a name from outside the creator's scope is not given out, one within it is: rotation") {
    TokenFixture farm;
    const std::string admin = farm.make_token("admin", {"main"}, {"six"}, {"token", "upload"});
    farm.make_token("promoter", {"main"}, {"*"}, {"promote"});
    CHECK(farm.create(admin, R"("name":"promoter","indexes":["main"],"projects":["six"])") ==
          "409 token.name_taken");
    CHECK(farm.create(admin, six_in_main) == "200");
    CHECK(farm.create(admin, six_in_main) == "200");
}

TEST_CASE("the number of active tokens is bounded; a revoked one makes room") {
    TokenFixture farm;
    const std::string admin = farm.make_token("admin", {"*"}, {"*"}, {"*"});
    {
        const auto database =
            sqlite::Database::open(farm.config.store / "catalog.sqlite", sqlite::Database::Mode::read_write)
                .value();
        REQUIRE(
            database.run("INSERT INTO token (id, secret_sha256, name, indexes_json, projects_json, "
                         "actions_json, created, expires, revoked) WITH RECURSIVE n (i) AS "
                         "(SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT "
                         "printf('wy_%012x', i), printf('%064x', i), 'filler', '[\"main\"]', "
                         "'[\"six\"]', '[\"upload\"]', 0, 0, 0 FROM n",
                         static_cast<std::int64_t>(registry::max_active_tokens)));
    }
    CHECK(farm.create(admin, six_in_main) == "429 token.too_many");
    CHECK(farm.revoke(admin, "wy_000000000003") == "200");
    CHECK(farm.create(admin, six_in_main) == "200");
}

TEST_CASE("a list has the tokens of the caller's scope, and no secret") {
    TokenFixture farm;
    const std::string admin = farm.make_token("admin", {"main"}, {"*"}, {"token", "upload"});
    const std::string foreign = farm.make_token("foreign", {"other"}, {"*"}, {"upload"});
    const std::string stronger = farm.make_token("stronger", {"main"}, {"*"}, {"promote"});
    const std::string weaker = farm.make_token("weaker", {"main"}, {"six"}, {"upload"});
    const auto answer = farm.ask("listTokens", admin);
    REQUIRE(answer.has_value());
    const auto shows = [&](const std::string& text) { return answer->json.find(text) != std::string::npos; };
    CHECK(shows(farm.id_of(admin)));
    CHECK(shows(farm.id_of(weaker)));
    CHECK_FALSE(shows(farm.id_of(foreign)));
    CHECK_FALSE(shows(farm.id_of(stronger)));
    CHECK(shows("\"hidden\":2"));
    const auto tokens = farm.cli.tokens().value();
    for (const auto& token : tokens)
        CHECK_FALSE(shows(token.secret_sha256));
    CHECK_FALSE(shows(weaker.substr(registry::token_id_length + 1)));
}

TEST_CASE("a token that a person made acts as the person, and ends with the log-in") {
    TokenFixture farm;
    farm.tokens->recognise_people({"campus"});
    const std::string anna = "login:campus:03a084df36d91e24";
    const std::string log_in = farm.make_token(anna + " Anna", {"main"}, {"*"},
                                               {"token", "upload", "approve"}, farm.clock.now() + day);
    const std::string of_bert = farm.make_token("login:campus:0000000000000001 Bert", {"main"}, {"*"},
                                                {"token", "upload"}, farm.clock.now() + day);
    const auto make = [&](const std::string& caller) {
        const auto answer =
            farm.ask("createToken", caller,
                     farm.body(R"("name":"ci","indexes":["main"],"actions":["token","upload"])"));
        REQUIRE(answer.has_value());
        return io::parse_json(answer->json)->string_or("token", "");
    };
    const auto name_of = [&](const std::string& token) {
        return farm.tokens->verify("Bearer " + token)->name;
    };
    const std::string made = make(log_in);
    const std::string made_by_made = make(made);
    const std::string made_by_bert = make(of_bert);
    // Who may approve a request or promote a file is decided by this name.
    CHECK(name_of(made) == anna);
    CHECK(name_of(made_by_made) == anna);
    CHECK(farm.revoke(log_in, farm.id_of(log_in)) == "200");
    CHECK_FALSE(farm.tokens->verify("Bearer " + made).has_value());
    CHECK_FALSE(farm.tokens->verify("Bearer " + made_by_made).has_value());
    CHECK(name_of(made_by_bert) == "login:campus:0000000000000001");
}

TEST_CASE("a token is revoked from the next request on, by its administrators and by itself") {
    TokenFixture farm;
    const std::string admin =
        farm.make_token("admin", {"main"}, {"*"}, {"token", "upload"}, farm.clock.now() + day);
    const std::string foreign = farm.make_token("foreign", {"other"}, {"*"}, {"upload"});
    // It outlives its administrator's token, which does not protect it.
    const std::string weaker = farm.make_token("weaker", {"main"}, {"six"}, {"upload"});
    CHECK(farm.revoke(admin, farm.id_of(foreign)) == "404 token.unknown");
    CHECK(farm.revoke(admin, "wy_000000000000") == "404 token.unknown");
    CHECK(farm.revoke(weaker, farm.id_of(admin)) == "404 token.unknown");
    CHECK(farm.revoke(admin, farm.id_of(weaker)) == "200");
    CHECK_FALSE(farm.tokens->verify("Bearer " + weaker).has_value());
    CHECK(farm.revoke(foreign, farm.id_of(foreign)) == "200");
    CHECK(farm.revoke(foreign, farm.id_of(foreign)) == "403 auth.token_refused");
    const auto tokens = farm.cli.tokens().value();
    for (const auto& token : tokens) {
        if (token.id != farm.id_of(weaker)) continue;
        CHECK(token.revoked_by == "admin");
        CHECK(token.revoked_at == farm.clock.now());
    }
    CHECK(farm.revoke(admin, farm.id_of(weaker)) == "200");  // again: no error
}

TEST_CASE("a request for a token: lists are not empty, texts are texts") {
    TokenFixture farm;
    const std::string admin = farm.make_token("admin", {"*"}, {"*"}, {"token", "upload"});
    for (const char* members :
         {R"("name":1,"indexes":["main"])", R"("name":"x","indexes":[])", R"("name":"x","indexes":[1])",
          R"("name":"x","indexes":"main")", R"("name":"x","indexes":["main"],"projects":[])"}) {
        CAPTURE(members);
        CHECK(farm.create(admin, members) == "400 token.body");
    }
    for (const char* body : {R"({"format":"wheelyard.other/1","name":"x","indexes":["main"]})", "[", ""}) {
        CAPTURE(body);
        CHECK(farm.said(farm.ask("createToken", admin, body)) == "400 token.body");
    }
}
