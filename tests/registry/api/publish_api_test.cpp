// What a job gets for an identity token: with an issuer of the test's own, whose key signs what the test
// claims.
#include "registry/api/logins.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "lib/attest/keys.hpp"
#include "lib/attest/sigstore/identity.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/access/token_rules.hpp"
#include "registry/http/limits.hpp"
#include "registry/http/reply.hpp"
#include "registry/identity/limits.hpp"
#include "tests/registry/identity/provider_documents.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

const std::string ci_issuer = "https://ci.example";
const std::string other_issuer = "https://other-ci.example";

// r‖s of a DER signature (RFC 3279, 2.2.3): two integers, of 32 bytes with zeros before them.
std::string raw_signature(const std::string& der) {
    std::string raw;
    std::size_t at = 2;
    for (int number = 0; number < 2; ++number) {
        const auto length = static_cast<unsigned char>(der.at(at + 1));
        std::string bytes = der.substr(at + 2, length);
        at += 2U + length;
        if (bytes.size() > 32) bytes = bytes.substr(bytes.size() - 32);
        raw += std::string(32 - bytes.size(), '\0') + bytes;
    }
    return raw;
}

struct Issuer {
    attest::SigningKey key = attest::SigningKey::generate();
    [[nodiscard]] std::string keys() const {
        const std::string point = key.public_key().der().substr(key.public_key().der().size() - 64);
        return R"({"keys":[{"kty":"EC","crv":"P-256","kid":"k","x":")" +
               base::encode_base64url(point.substr(0, 32)) + R"(","y":")" +
               base::encode_base64url(point.substr(32)) + R"("}]})";
    }
    [[nodiscard]] std::string sign(const io::Json& claims) const {
        const std::string bytes = base::encode_base64url(R"({"alg":"ES256","kid":"k"})") + "." +
                                  base::encode_base64url(claims.render());
        return bytes + "." + base::encode_base64url(raw_signature(key.sign(bytes)));
    }
};

struct CiFixture : RegistryFixture {
    Issuer ci;
    test_support::ProviderDocuments documents{
        // As GitHub and GitLab describe themselves to whom nobody logs in: without the addresses of log-ins.
        {identity::discovery_url(ci_issuer),
         R"({"issuer":")" + ci_issuer + R"(","jwks_uri":"https://ci.example/keys"})"},
        {"https://ci.example/keys", ci.keys()}};
    std::unique_ptr<registry::Logins> logins = make_logins();
    int number = 0;

    std::unique_ptr<registry::Logins> make_logins() {
        config.indexes.push_back(config.indexes.front());
        config.indexes.back().name = "dev";
        config.publishers = {
            publisher(
                "solver", "main", {"solver"},
                {{"repository", "octo-org/solver"}, {"ref", "refs/tags/*"}, {"environment", "release"}}),
            publisher("nightly", "dev", {"*"}, {{"repository", "octo-org/nightly"}})};
        config.publishers.back().pull_requests = true;
        tokens->recognise_publishers({"solver", "nightly"});
        auto made = std::make_unique<registry::Logins>(config, clock, [this](const identity::ProviderRules&) {
            return registry::Logins::Network{test_support::fetch_from(documents), {}};
        });
        made->fetch_due();
        return made;
    }
    static registry::PublisherConfig publisher(
        const std::string& name, const std::string& index, const std::vector<std::string>& projects,
        const std::vector<std::pair<std::string, std::string>>& wanted) {
        return {.name = name,
                .provider = {.issuer = ci_issuer,
                             .client_id = "wheels.example",
                             .hosts = {},
                             .has_logins = false},
                .index = index,
                .projects = projects,
                .claims = wanted,
                .azp = {}};
    }
    // What a job of the release says, with changes; null: without the claim.
    [[nodiscard]] io::Json claims(const std::vector<std::pair<std::string, io::Json>>& changes = {}) {
        const std::int64_t now = clock.now() / 1'000'000;
        const io::Json usual = io::Json::object({{"iss", ci_issuer},
                                                 {"aud", "wheels.example"},
                                                 {"sub", "repo:octo-org/solver:environment:release"},
                                                 {"iat", now},
                                                 {"exp", now + 300},
                                                 {"jti", "j" + std::to_string(++number)},
                                                 {"repository", "octo-org/solver"},
                                                 {"ref", "refs/tags/v1.0"},
                                                 {"environment", "release"},
                                                 {"event_name", "push"}});
        io::Json changed = usual;
        for (const auto& [name, value] : changes)
            changed.set(name, value);
        io::Json told = io::Json::object();
        for (const auto& [name, value] : *changed.as_object())
            if (value.as_string() != nullptr || !(value == io::Json())) told.set(name, value);
        return told;
    }
    wire::Answered<http::ApiReply> ask(const std::string& operation, const std::string& body) {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.body = body;
        registry::ApiParts of_job = parts();
        of_job.logins = logins.get();
        return registry::Api(of_job).answer(request);
    }
    wire::Answered<http::ApiReply> exchange(const std::string& identity_token) {
        return ask("mintToken", io::Json::object({{"token", identity_token}}).render());
    }
    wire::Answered<http::ApiReply> mint(const std::vector<std::pair<std::string, io::Json>>& changes = {}) {
        return exchange(ci.sign(claims(changes)));
    }
    std::string token_of(const wire::Answered<http::ApiReply>& reply) {
        REQUIRE_MESSAGE(reply.has_value(), reply.error().detail);
        return io::parse_json(reply->json)->string_or("token", "");
    }
    static std::string said(const wire::Answered<http::ApiReply>& reply) {
        return reply ? "200" : std::to_string(reply.error().status) + " " + reply.error().code;
    }
    // The refusal's code, where its sentence has `part`; else the sentence.
    static std::string said_with(const wire::Answered<http::ApiReply>& reply, const std::string& part) {
        if (reply || reply.error().detail.find(part) != std::string::npos) return said(reply);
        return reply.error().detail;
    }
};

}  // namespace

TEST_CASE("a job that fits gets a token that uploads its projects to its index, for 15 minutes") {
    CiFixture farm;
    const auto reply = farm.mint();
    const std::string text = farm.token_of(reply);
    const auto json = io::parse_json(reply->json).value();
    CHECK(json.bool_or("success", false));
    CHECK(*json.find("expires")->as_int() == farm.clock.now() / 1'000'000 + 900);
    const auto token = farm.tokens->verify("Bearer " + text);
    REQUIRE(token.has_value());
    CHECK(token->name == "publisher:solver");
    CHECK(token->created_by == ci_issuer + " repo:octo-org/solver:environment:release");
    CHECK(registry::allows(*token, "main", "solver", "upload"));
    CHECK_FALSE(registry::allows(*token, "dev", "solver", "upload"));
    CHECK_FALSE(registry::allows(*token, "main", "other", "upload"));
    for (const std::string& action : registry::token_actions())
        CHECK(registry::allows(*token, "main", "solver", action) == (action == "upload"));
    farm.clock.sleep_ms(15 * 60 * 1000 - 1);
    CHECK(farm.tokens->verify("Bearer " + text).has_value());
    farm.clock.sleep_ms(1);
    const auto ended = farm.tokens->verify("Bearer " + text);
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.error().code == "auth.token_refused");
    CHECK(ended.error().advice == "exchange a new identity token of the job");
}

TEST_CASE(
    "what a token claims must be what a publisher wants, and the refusal names each claim that is not") {
    CiFixture farm;
    CHECK(CiFixture::said_with(farm.mint({{"repository", "octo-org/solver2"}}),
                               "`repository` is `octo-org/solver2`") == "422 publisher.claims");
    CHECK(CiFixture::said_with(farm.mint({{"repository", "Octo-Org/solver"}}), "`repository`") ==
          "422 publisher.claims");
    CHECK(CiFixture::said_with(farm.mint({{"environment", io::Json()}}), "`environment` is missing") ==
          "422 publisher.claims");
    CHECK(CiFixture::said_with(farm.mint({{"environment", true}}), "`environment` is missing") ==
          "422 publisher.claims");
    const auto two = farm.mint({{"environment", "test"}, {"ref", "refs/heads/main"}});
    CHECK(CiFixture::said_with(two, "`environment` is `test`") == "422 publisher.claims");
    CHECK(CiFixture::said_with(two, "`ref` is `refs/heads/main`") == "422 publisher.claims");
    // What the configuration wants is for its administrator: whoever has a repository has a token of such an
    // issuer.
    CHECK(two.error().detail.find("release") == std::string::npos);
    CHECK(two.error().detail.find("refs/tags") == std::string::npos);
    CHECK(CiFixture::said(farm.mint({{"ref", "refs/tags/"}})) == "200");
    CHECK(CiFixture::said(farm.mint({{"ref", "xrefs/tags/v1"}})) == "422 publisher.claims");
}

TEST_CASE("a job of a pull request publishes only where its publisher says so") {
    CiFixture farm;
    for (const std::string event : {"pull_request", "pull_request_target", "pull_request_review"})
        CHECK(CiFixture::said_with(farm.mint({{"event_name", event}}), "`event_name` is `" + event + "`") ==
              "422 publisher.pull_request");
    for (const std::string source : {"merge_request_event", "external_pull_request_event"})
        CHECK(CiFixture::said_with(farm.mint({{"event_name", io::Json()}, {"pipeline_source", source}}),
                                   "`pipeline_source` is `" + source + "`") == "422 publisher.pull_request");
    // In another form or another case.
    for (const io::Json& event :
         {io::Json("Pull_Request"), io::Json("WORKFLOW_RUN"),
          io::Json::array_of(std::vector<std::string>{"pull_request"}),
          io::Json::array_of(std::vector<std::string>{"push", "pull_request_target"})}) {
        CAPTURE(event.render());
        CHECK(CiFixture::said(farm.mint({{"event_name", event}})) == "422 publisher.pull_request");
    }
    CHECK(CiFixture::said(farm.mint({{"event_name", io::Json()}, {"pipeline_source", "push"}})) == "200");
    CHECK(CiFixture::said(farm.mint({{"event_name", io::Json()}})) == "200");
    const std::vector<std::pair<std::string, std::string>> others{
        {"event_name", "workflow_run"},
        {"event_name", "issue_comment"},
        {"pipeline_source", "parent_pipeline"},
        {"ref", "refs/pull/7/merge"},
        {"ref", "refs/merge-requests/7/head"},
        {"ref_path", "refs/pull/7/head"},
        {"ref_path", "refs/merge-requests/7/merge"}};
    auto& solver = farm.config.publishers.front();
    std::erase_if(solver.claims, [](const auto& claim) { return claim.first == "ref"; });
    for (const auto& [claim, value] : others)
        CHECK(CiFixture::said_with(farm.mint({{claim, value}}), "`" + claim + "` is `" + value + "`") ==
              "422 publisher.pull_request");
    for (const auto& [claim, value] : others)
        CHECK(CiFixture::said(farm.mint({{"repository", "octo-org/nightly"}, {claim, value}})) == "200");
    CHECK(CiFixture::said(farm.mint({{"ref_path", "refs/heads/refs/pull/7"}})) == "200");
    const auto token = farm.tokens->verify(
        "Bearer " +
        farm.token_of(farm.mint({{"event_name", "pull_request"}, {"repository", "octo-org/nightly"}})));
    REQUIRE(token.has_value());
    CHECK(token->name == "publisher:nightly");
    CHECK(token->indexes == std::vector<std::string>{"dev"});
}

TEST_CASE("the how-to lists the jobs that are refused as those of pull requests") {
    const std::string page =
        base::read_file(std::string(WHEELYARD_TEST_DATA) + "/../docs/how-to/publish-from-ci.md", 1u << 20)
            .value();
    for (const sigstore::PullRequestClaim& row : sigstore::pull_request_claims) {
        const std::string line = "| `" + std::string(row.claim) + "` | `" + std::string(row.value) + "` |";
        CHECK_MESSAGE(page.find(line) != std::string::npos, line);
    }
}

TEST_CASE("a claim that is not as wanted and of a pull request is told once") {
    CiFixture farm;
    const auto reply = farm.mint({{"ref", "refs/pull/7/merge"}});
    CHECK(CiFixture::said(reply) == "422 publisher.claims");
    const std::string detail = reply ? std::string() : reply.error().detail;
    CHECK(detail.find("`ref`") != std::string::npos);
    CHECK(detail.find("`ref`") == detail.rfind("`ref`"));
}

TEST_CASE("a publisher that is no more ends its tokens, and one of a missing index makes none") {
    CiFixture farm;
    const std::string minted = farm.token_of(farm.mint());
    CHECK(farm.tokens->verify("Bearer " + minted).has_value());
    farm.tokens->recognise_publishers({"nightly"});
    const auto ended = farm.tokens->verify("Bearer " + minted);
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.error().code == "auth.token_refused");
    CHECK(ended.error().detail.find("[[publisher]]") != std::string::npos);
    // An operator's token that an earlier version let be named so has no end, and no table.
    CHECK(farm.tokens->verify("Bearer " + farm.make_token("publisher:gone", {"main"}, {"*"}, {"upload"})));
    farm.config.publishers.front().index = "mian";
    CHECK(CiFixture::said(farm.mint()) == "422 publisher.index");
    CHECK(CiFixture::said(farm.mint({{"repository", "octo-org/nightly"}})) == "200");
}

TEST_CASE("an identity token is for this registry, of now, of a known issuer and signed by it") {
    CiFixture farm;
    const std::int64_t now = farm.clock.now() / 1'000'000;
    CHECK(CiFixture::said_with(farm.mint({{"aud", "other.example"}}), "another client") ==
          "422 publisher.token");
    CHECK(CiFixture::said_with(farm.mint({{"iat", now - 400}, {"exp", now - 100}}), "expired") ==
          "422 publisher.token");
    CHECK(CiFixture::said_with(farm.mint({{"iat", now + 100}, {"exp", now + 400}}), "future") ==
          "422 publisher.token");
    CHECK(CiFixture::said_with(farm.mint({{"exp", now + 100'000}}), "a day") == "422 publisher.token");
    CHECK(CiFixture::said(farm.mint({{"iss", other_issuer}})) == "422 publisher.issuer");
    CHECK(CiFixture::said(farm.mint({{"iss", ci_issuer + "/"}})) == "422 publisher.issuer");
    const io::Json both = io::Json::array_of(std::vector<std::string>{"wheels.example", "other.example"});
    CHECK(CiFixture::said_with(farm.mint({{"aud", both}, {"azp", "wheels.example"}}), "others as well") ==
          "422 publisher.token");
    CHECK(CiFixture::said(
              farm.mint({{"aud", io::Json::array_of(std::vector<std::string>{"wheels.example"})}})) == "200");
    const Issuer stranger;
    CHECK(CiFixture::said_with(farm.exchange(stranger.sign(farm.claims())), "signature") ==
          "422 publisher.token");
    CHECK(CiFixture::said_with(farm.exchange("e30.e30.e30"), "who issued it") == "422 publisher.token");
    CHECK(CiFixture::said(farm.exchange(std::string(17 * 1024, 'a'))) == "422 publisher.token");
    for (const std::string body : {"", "[]", R"({"token":"a","token":"b"})"})
        CHECK(CiFixture::said(farm.ask("mintToken", body)) == "422 publisher.body");
}

TEST_CASE("a service account's tokens name its client, and are for others as well as for us") {
    CiFixture farm;
    const io::Json both = io::Json::array_of(std::vector<std::string>{"wheels.example", "account"});
    const std::vector<std::pair<std::string, io::Json>> service{
        {"sub", "service-1"}, {"aud", both}, {"azp", "ci"}, {"typ", "Bearer"}};
    const auto mint = [&](const std::string& name, const io::Json& value) {
        auto changes = service;
        changes.emplace_back(name, value);
        return farm.mint(changes);
    };
    // No table has the client: as every token that another one asked for.
    CHECK(CiFixture::said_with(farm.mint(service), "azp") == "422 publisher.token");
    farm.config.publishers.push_back(
        CiFixture::publisher("service", "dev", {"tool"}, {{"sub", "service-1"}}));
    farm.config.publishers.back().azp = "ci";
    farm.tokens->recognise_publishers({"solver", "nightly", "service"});
    const auto token = farm.tokens->verify("Bearer " + farm.token_of(farm.mint(service)));
    REQUIRE(token.has_value());
    CHECK(token->name == "publisher:service");
    CHECK(CiFixture::said(mint("aud", "wheels.example")) == "200");
    CHECK(CiFixture::said_with(mint("aud", "account"), "another client") == "422 publisher.token");
    CHECK(CiFixture::said_with(mint("azp", "other-ci"), "azp") == "422 publisher.token");
    CHECK(CiFixture::said_with(mint("azp", "wheels.example"), "others as well") == "422 publisher.token");
    CHECK(CiFixture::said_with(mint("azp", io::Json()), "azp") == "422 publisher.token");
    CHECK(CiFixture::said_with(mint("azp", true), "azp") == "422 publisher.token");
    CHECK(CiFixture::said_with(mint("azp", both), "azp") == "422 publisher.token");
    CHECK(CiFixture::said_with(mint("typ", "Refresh"), "no ID token") == "422 publisher.token");
    CHECK(CiFixture::said_with(mint("sub", "service-2"), "`sub` is `service-2`") == "422 publisher.claims");
    // What the claims of a table without a client want, a service account may say of itself: it is none of
    // its tokens.
    auto as_job = service;
    as_job[0] = {"sub", "service-2"};
    CHECK(CiFixture::said(farm.mint(as_job)) == "422 publisher.claims");
    CHECK(CiFixture::said(farm.mint()) == "200");  // jobs as before
    CHECK(CiFixture::said(farm.mint({{"sub", "service-1"}})) == "200");
    // Only a table with a client: a token without one fits none.
    farm.config.publishers.erase(farm.config.publishers.begin(), farm.config.publishers.begin() + 2);
    CHECK(CiFixture::said_with(farm.mint({{"sub", "service-1"}}), "azp") == "422 publisher.token");
}

TEST_CASE("an identity token works once, whatever the process remembers, and with another signature") {
    CiFixture farm;
    const auto once = farm.claims();
    const std::string token = farm.ci.sign(once);
    CHECK(CiFixture::said(farm.exchange(token)) == "200");
    CHECK(CiFixture::said(farm.exchange(token)) == "422 publisher.used");
    // Another signature of the same claims is another text, and the same token.
    CHECK(CiFixture::said(farm.exchange(farm.ci.sign(once))) == "422 publisher.used");
    // Nothing is remembered but in the catalog: not with the cached keys, nor where tokens are verified.
    farm.logins = farm.make_logins();
    farm.tokens = std::make_unique<registry::TokenVerifier>(farm.databases.reader().value(), farm.clock);
    CHECK(CiFixture::said(farm.exchange(token)) == "422 publisher.used");
    const auto without_id = farm.claims({{"jti", io::Json()}});
    CHECK(CiFixture::said(farm.exchange(farm.ci.sign(without_id))) == "200");
    CHECK(CiFixture::said(farm.exchange(farm.ci.sign(without_id))) == "422 publisher.used");
    CHECK(CiFixture::said(farm.mint()) == "200");
}

TEST_CASE("a used identity token is remembered for longer than it lives") {
    CiFixture farm;
    const std::string token = farm.ci.sign(farm.claims());
    CHECK(CiFixture::said(farm.exchange(token)) == "200");
    const auto rows = farm.cli.tokens().value();
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [](const auto& one) { return one.name == "publisher:solver"; });
    REQUIRE(row != rows.end());
    const base::UnixMicros dropped = row->expires + 24LL * 3600 * 1'000'000;
    CHECK(registry::log_ins_to_drop(rows, dropped - 1).empty());
    CHECK(registry::log_ins_to_drop(rows, dropped) == std::vector<std::string>{row->id});
    // An operator's token that an earlier version let be named so, without an end, stays.
    auto never = *row;
    never.expires = 0;
    CHECK(registry::log_ins_to_drop({never}, dropped).empty());
}

TEST_CASE("an identity token that may live for a day is refused again until it has expired, burnt or not") {
    CiFixture farm;
    const std::int64_t now = farm.clock.now() / 1'000'000;
    // As long-lived as any that is accepted: of a clock that is a minute ahead.
    const std::string token = farm.ci.sign(farm.claims({{"iat", now + 60}, {"exp", now + 60 + 24 * 3600}}));
    const std::string minted = farm.token_of(farm.exchange(token));
    CHECK(farm.ask("burnToken", io::Json::object({{"token", minted}}).render())->status == 202);
    const auto drop = [&] {
        REQUIRE(farm.cli.drop_tokens(registry::log_ins_to_drop(farm.cli.tokens().value(), farm.clock.now())));
    };
    farm.clock.sleep_ms((24 * 3600 + 2 * 60) * 1000 - 1);
    drop();
    CHECK(CiFixture::said(farm.exchange(token)) == "422 publisher.used");
    farm.clock.sleep_ms(1);
    CHECK(CiFixture::said_with(farm.exchange(token), "expired") == "422 publisher.token");
    farm.clock.sleep_ms(15 * 60 * 1000);
    drop();
    const auto kept = farm.cli.tokens().value();
    for (const auto& row : kept)
        CHECK_FALSE(registry::is_publisher(row.name));
}

TEST_CASE("after the upload its token is burnt, and nobody else's is") {
    CiFixture farm;
    const std::string minted = farm.token_of(farm.mint());
    const std::string forged = minted.substr(0, registry::token_id_length + 1) + std::string(64, '0');
    for (const std::string& sent : {std::string("x"), forged, farm.token}) {
        CHECK(farm.ask("burnToken", io::Json::object({{"token", sent}}).render())->status == 202);
        CHECK(farm.tokens->verify("Bearer " + minted).has_value());
        CHECK(farm.tokens->verify("Bearer " + farm.token).has_value());
    }
    CHECK(farm.ask("burnToken", "")->status == 202);
    CHECK(farm.ask("burnToken", io::Json::object({{"token", minted}}).render())->status == 202);
    CHECK_FALSE(farm.tokens->verify("Bearer " + minted).has_value());
}

TEST_CASE(
    "the kept tokens of a publisher are bounded, ended ones too, and no other publisher waits for them") {
    CiFixture farm;
    for (std::size_t i = 0; i < registry::max_publisher_tokens; ++i)
        farm.make_token("publisher:solver", {"main"}, {"solver"}, {"upload"}, farm.clock.now() + 1'000'000);
    CHECK(CiFixture::said(farm.mint()) == "429 publisher.too_many");
    CHECK(CiFixture::said(farm.mint({{"repository", "octo-org/nightly"}})) == "200");
    // They take no place of those that people make, as tokens of people's log-ins do not.
    http::ApiRequest request{.request_id = "r1", .operation = "createToken"};
    request.authorization = "Bearer " + farm.make_token("admin", {"*"}, {"*"}, {"*"});
    request.body = R"({"format":"wheelyard.token_request/1","name":"ci","indexes":["main"]})";
    registry::Api api(farm.parts());
    CHECK(CiFixture::said(api.answer(request)) == "200");
    farm.clock.sleep_ms(1'000);
    CHECK(CiFixture::said(farm.mint()) == "429 publisher.too_many");
    farm.clock.sleep_ms(24 * 3600 * 1000);
    REQUIRE(farm.cli.drop_tokens(registry::log_ins_to_drop(farm.cli.tokens().value(), farm.clock.now())));
    CHECK(CiFixture::said(farm.mint()) == "200");
}

TEST_CASE("without a publisher, and before its issuer's keys are there, nothing is minted") {
    CiFixture farm;
    farm.documents["https://ci.example/keys"] =
        R"({"keys":[]})";  // fetched before the issuer began to use its new key
    farm.logins = farm.make_logins();
    CHECK(CiFixture::said(farm.mint()) == "503 publisher.provider");
    farm.documents.clear();
    farm.logins = farm.make_logins();
    CHECK(CiFixture::said(farm.mint()) == "503 publisher.provider");
    farm.config.publishers.clear();
    for (const std::string operation : {"readAudience", "mintToken", "burnToken"})
        CHECK(CiFixture::said(farm.ask(operation, "")) == "404 publisher.none");
}

TEST_CASE("people's log-ins and jobs have one cache of an issuer's keys, each with its own audience") {
    CiFixture farm;
    registry::IdentityConfig people;
    people.name = "ci";
    people.provider = {.issuer = ci_issuer, .client_id = "wheelyard", .hosts = {}};
    farm.config.identities = {people};
    farm.documents[identity::discovery_url(ci_issuer)] =
        R"({"issuer":")" + ci_issuer +
        R"(","jwks_uri":"https://ci.example/keys","authorization_endpoint":"https://ci.example/a",)"
        R"("token_endpoint":"https://ci.example/t"})";
    farm.logins = farm.make_logins();
    CHECK(farm.logins->find_issuer(ci_issuer) == farm.logins->find("ci")->provider.get());
    CHECK(CiFixture::said(farm.mint()) == "200");
    CHECK(CiFixture::said(farm.mint({{"aud", "wheelyard"}})) == "422 publisher.token");
    const std::string of_job = farm.ci.sign(farm.claims());
    CHECK(farm.logins->find("ci")
              ->provider->verify(of_job, {ci_issuer, "wheelyard", std::nullopt}, 0)
              .error()
              .code == "jwt.audience");
}

TEST_CASE("clients of PyPI find what they read in every refusal") {
    http::Reply reply = http::reply_problem(
        wire::make_problem("publisher.claims", "No publisher fits", "`ref` is `x`.", "v", "Ask."));
    http::tell_publisher(reply);
    const auto json = io::parse_json(std::get<std::string>(reply.body)).value();
    CHECK(json.string_or("message", "") == "No publisher fits");
    REQUIRE(json.items("errors").size() == 1);
    CHECK(json.items("errors").front().string_or("code", "") == "publisher.claims");
    CHECK(json.items("errors").front().string_or("description", "") == "`ref` is `x`. (v) Ask.");
    CHECK(json.string_or("detail", "") == "`ref` is `x`.");  // it stays a problem
    http::Reply good = http::reply_json(200, "{}");
    http::tell_publisher(good);
    CHECK(std::get<std::string>(good.body) == "{}");
}
