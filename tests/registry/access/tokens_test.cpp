// Tokens: who gets in, who does not, and from when on.
#include "registry/access/tokens.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/store.hpp"
#include "registry/access/limits.hpp"

using namespace wheelyard;
using catalog::Catalog;
using registry::TokenVerifier;

namespace {

constexpr base::UnixMicros start = 1'795'000'000'000'000;
constexpr base::UnixMicros day = 24ll * 3600 * 1'000'000;

struct Fixture {
    base::TempDir dir = base::TempDir::make("tokens").value();
    database::Store store{dir.path()};
    base::ManualClock clock{start};
    // What the CLI in another process is: a connection of its own.
    std::unique_ptr<Catalog> cli_opened = store.writer().value();
    Catalog& cli = *cli_opened;
    std::unique_ptr<TokenVerifier> verifier = std::make_unique<TokenVerifier>(store.reader().value(), clock);

    registry::TokenText add(base::UnixMicros expires = 0, const std::string& name = "agent",
                            const std::string& created_by = {}) {
        registry::TokenText token = registry::make_token_text();
        REQUIRE(cli.add_token({.id = token.id,
                               .secret_sha256 = registry::hash_token_secret(token.secret),
                               .name = name,
                               .indexes = {"main"},
                               .projects = {"*"},
                               .actions = {"upload"},
                               .created = start,
                               .expires = expires,
                               .revoked = false,
                               .created_by = created_by}));
        return token;
    }
};

std::string basic(const std::string& user, const std::string& password) {
    return "Basic " + base::encode_base64(user + ":" + password);
}

int status_of(const wire::Answered<catalog::TokenRow>& answer) {
    return answer ? 200 : answer.error().status;
}

}  // namespace

TEST_CASE("a token's text splits into its id and its secret") {
    const registry::TokenText token = registry::make_token_text();
    CHECK(token.id.starts_with("wy_"));
    CHECK(token.id.size() == 15);
    CHECK(token.secret.size() == 64);  // 256 bits
    const auto parsed = registry::parse_token_text(token.text());
    REQUIRE(parsed.has_value());
    CHECK(parsed->id == token.id);
    CHECK(parsed->secret == token.secret);
    CHECK(registry::make_token_text().secret != token.secret);
}

TEST_CASE("what is no token's text") {
    const std::string good = registry::make_token_text().text();
    std::string upper = good;
    upper.back() = 'G';
    std::string separator = good;
    separator[15] = '-';
    for (const std::string& text :
         {std::string(), std::string("wy_"), good.substr(1), good + "0", good.substr(0, 79),
          "WY" + good.substr(2), upper, separator, std::string(good.size(), '\0')}) {
        CAPTURE(text);
        CHECK_FALSE(registry::parse_token_text(text).has_value());
    }
}

TEST_CASE("the token in an Authorization header, as clients send it") {
    struct Row {
        std::string header;
        std::string token;  // empty: none
    };
    const Row rows[] = {
        {basic("__token__", "secret"), "secret"},
        {basic("anybody", "secret"), "secret"},
        {basic("", "se:cret"), "se:cret"},
        {"basic   " + base::encode_base64("u:p") + " ", "p"},
        {"Bearer secret", "secret"},
        {"BEARER  secret ", "secret"},
        {"", ""},
        {"Basic", ""},
        {"Basic !!!", ""},
        {"Basic " + base::encode_base64("no colon"), ""},
        {"Digest username=\"x\"", ""},
        {"Bearer " + std::string(registry::max_authorization_bytes - 7, 'x'),
         std::string(registry::max_authorization_bytes - 7, 'x')},
        {"Bearer " + std::string(registry::max_authorization_bytes - 6, 'x'), ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.header);
        CHECK(registry::token_of_authorization(row.header).value_or("") == row.token);
    }
}

TEST_CASE("no credentials are 401, a token that is not known 403") {
    Fixture fixture;
    const registry::TokenText token = fixture.add();
    CHECK(status_of(fixture.verifier->verify("")) == 401);
    CHECK(status_of(fixture.verifier->verify("Digest x")) == 401);
    CHECK(status_of(fixture.verifier->verify(basic("__token__", ""))) == 401);
    CHECK(status_of(fixture.verifier->verify(basic("__token__", "password"))) == 403);
    CHECK(status_of(fixture.verifier->verify(basic("__token__", registry::make_token_text().text()))) == 403);
    CHECK(status_of(fixture.verifier->verify(
              basic("__token__", token.id + "_" + registry::make_token_text().secret))) == 403);
    const auto known = fixture.verifier->verify(basic("__token__", token.text()));
    REQUIRE(known.has_value());
    CHECK(known->id == token.id);
    CHECK(known->name == "agent");
    CHECK(status_of(fixture.verifier->verify("Bearer " + token.text())) == 200);
}

TEST_CASE("a refusal never repeats what was sent") {
    Fixture fixture;
    const registry::TokenText token = fixture.add();
    for (const std::string& sent : {std::string("hunter2hunter2"), token.id + "_" + std::string(64, 'a')}) {
        const auto refused = fixture.verifier->verify(basic("__token__", sent));
        REQUIRE_FALSE(refused.has_value());
        CHECK(wire::render_problem(refused.error()).find(sent.substr(sent.size() - 12)) == std::string::npos);
    }
}

TEST_CASE("a token made or revoked through another connection counts on the next request") {
    Fixture fixture;
    const registry::TokenText first = fixture.add();
    CHECK(status_of(fixture.verifier->verify("Bearer " + first.text())) == 200);
    const registry::TokenText second = fixture.add();
    CHECK(status_of(fixture.verifier->verify("Bearer " + second.text())) == 200);
    REQUIRE(fixture.cli.revoke_token(first.id, {}).value());
    CHECK(status_of(fixture.verifier->verify("Bearer " + first.text())) == 403);
    CHECK(status_of(fixture.verifier->verify("Bearer " + second.text())) == 200);
}

TEST_CASE("a token is good until the moment it expires") {
    Fixture fixture;
    const registry::TokenText token = fixture.add(start + day);
    fixture.clock.set(start + day - 1);
    CHECK(status_of(fixture.verifier->verify("Bearer " + token.text())) == 200);
    fixture.clock.set(start + day);
    const auto refused = fixture.verifier->verify("Bearer " + token.text());
    CHECK(status_of(refused) == 403);
    CHECK(refused.error().detail.find("expired") != std::string::npos);
}

TEST_CASE("people use their log-ins as long as the configuration has their identity") {
    Fixture fixture;
    const std::string anna = "login:campus:03a084df36d91e24";
    const registry::TokenText log_in = fixture.add(start + day, anna + " Anna");
    const registry::TokenText made = fixture.add(start + day, "ci", anna);
    fixture.verifier->recognise_people({"campus"});
    CHECK(status_of(fixture.verifier->verify("Bearer " + log_in.text())) == 200);
    CHECK(status_of(fixture.verifier->verify("Bearer " + made.text())) == 200);
    fixture.verifier->recognise_people({"other"});
    for (const auto& token : {log_in, made}) {
        const auto refused = fixture.verifier->verify("Bearer " + token.text());
        CHECK(status_of(refused) == 401);
        CHECK(refused.error().code == "auth.login_ended");
    }
}

TEST_CASE("a token that somebody named login: by hand, before there were log-ins, is like any other") {
    Fixture fixture;
    for (const char* name :
         {"login:node", "login:node:7", "login: campus:03a084df36d91e24", "login::03a084df36d91e24"}) {
        CAPTURE(name);
        const registry::TokenText token = fixture.add(0, name);
        const auto identity = fixture.verifier->verify("Bearer " + token.text());
        REQUIRE(identity.has_value());
        CHECK(identity->name == name);
    }
}

TEST_CASE("while threads ask, a token is revoked: every request begun after that is refused") {
    Fixture fixture;
    const registry::TokenText token = fixture.add();
    std::atomic<bool> revoked = false;
    std::atomic<int> asked = 0;
    std::atomic<int> let_in_afterwards = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (bool after = false; !after;) {
                after = revoked.load();
                const int status = status_of(fixture.verifier->verify("Bearer " + token.text()));
                if (after && status != 403) ++let_in_afterwards;
                ++asked;
            }
        });
    }
    while (asked < 100)
        std::this_thread::yield();
    CHECK(fixture.cli.revoke_token(token.id, {}).value());
    revoked = true;
    for (std::thread& thread : threads)
        thread.join();
    CHECK(let_in_afterwards == 0);
}

TEST_CASE("scopes are index, project and action, each by name or *") {
    struct Row {
        std::vector<std::string> indexes, projects, actions;
        const char *index, *project, *action;
        bool allowed;
    };
    const Row rows[] = {
        {{"main"}, {"*"}, {"upload"}, "main", "six", "upload", true},
        {{"*"}, {"*"}, {"*"}, "main", "six", "upload", true},
        {{"main", "other"}, {"torch", "six"}, {"upload"}, "other", "six", "upload", true},
        {{"main"}, {"torch"}, {"upload"}, "main", "", "upload", true},  // some project
        {{"main"}, {"torch"}, {"upload"}, "main", "six", "upload", false},
        {{"main"}, {"*"}, {"upload"}, "other", "six", "upload", false},
        {{"main"}, {"*"}, {"yank"}, "main", "six", "upload", false},
        {{}, {"*"}, {"upload"}, "main", "six", "upload", false},
        {{"main"}, {}, {"upload"}, "main", "", "upload", false},
        {{"mai*"}, {"*"}, {"upload"}, "main", "six", "upload", false},  // no globs
    };
    for (const Row& row : rows) {
        CAPTURE(row.index);
        CAPTURE(row.project);
        const catalog::TokenRow token{.id = {},
                                      .secret_sha256 = {},
                                      .name = {},
                                      .indexes = row.indexes,
                                      .projects = row.projects,
                                      .actions = row.actions,
                                      .created = 0,
                                      .expires = 0,
                                      .revoked = false};
        CHECK(registry::allows(token, row.index, row.project, row.action) == row.allowed);
    }
}

TEST_CASE("lifetimes") {
    CHECK(registry::parse_lifetime_ms("90d").value() == 90ll * 24 * 3600 * 1000);
    CHECK(registry::parse_lifetime_ms("12h").value() == 12ll * 3600 * 1000);
    CHECK(registry::parse_lifetime_ms("30m").value() == 30ll * 60 * 1000);
    CHECK(registry::parse_lifetime_ms("8w").value() == 56ll * 24 * 3600 * 1000);
    for (const char* text :
         {"", "d", "90", "0d", "-1d", "1.5h", "90 d", "1y", "100001d", "99999999999999999999d"}) {
        CAPTURE(text);
        CHECK(registry::parse_lifetime_ms(text).error().code == "token.lifetime");
    }
}
