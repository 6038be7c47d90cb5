// Log-in over HTTP, with a provider whose answers the test writes and tokens of tests/registry/identity/data.
#include "registry/api/login_api.hpp"

#include <doctest/doctest.h>

#include <map>

#include "lib/base/files/file.hpp"
#include "lib/io/json.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/identity/limits.hpp"
#include "registry/sqlite/sqlite.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using registry::AllowRule;
using test_support::RegistryFixture;

namespace {

const std::string farm_issuer = "https://idp.example/realms/farm";
const std::string secret(64, 'a');

io::Json token_samples() {
    return io::parse_json(
               base::read_file(std::string(WHEELYARD_TEST_DATA) + "/registry/identity/data/tokens.json",
                               1u << 20)
                   .value())
        .value();
}

struct LoginFixture : RegistryFixture {
    std::map<std::string, std::string> documents{
        {identity::discovery_url(farm_issuer),
         R"({"issuer":")" + farm_issuer +
             R"(","authorization_endpoint":"https://idp.example/auth","token_endpoint":"https://idp.example/token",)"
             R"("jwks_uri":"https://idp.example/keys","device_authorization_endpoint":"https://idp.example/device",)"
             R"("authorization_response_iss_parameter_supported":true})"},
        {"https://idp.example/keys", token_samples().string_at("keys").value()}};
    identity::Answer answer_of_provider{400, R"({"error":"authorization_pending"})"};
    int posts = 0;
    std::unique_ptr<registry::Logins> logins = make_logins();

    std::unique_ptr<registry::Logins> make_logins() {
        clock.set(1'795'700'000'000'000);  // of the sample tokens
        config.server.public_url = "https://wheels.example";
        registry::IdentityConfig campus;
        campus.name = "campus";
        campus.provider = {.issuer = farm_issuer, .client_id = "wheelyard", .hosts = {}};
        campus.scopes = "openid";
        campus.groups_claim = "groups";
        campus.allow = {{"/hpc", {"main"}, {"*"}, {"read", "task", "upload"}}};
        campus.reading_s = 7 * 24 * 3600;
        campus.publishing_s = 900;
        config.identities = {campus};
        campus.name = "other";
        campus.provider.issuer = "https://other.example";
        config.identities.push_back(campus);
        auto made = std::make_unique<registry::Logins>(config, clock, [this](const identity::ProviderRules&) {
            return registry::Logins::Network{
                [this](const std::string& url) -> base::Result<std::string> {
                    if (const auto found = documents.find(url); found != documents.end())
                        return found->second;
                    return base::fail_for_now("http.connect", "no connection", url);
                },
                [this](const std::string& url, const identity::Form&, const std::string&,
                       const std::string&) -> base::Result<identity::Answer> {
                    ++posts;
                    if (url == "https://idp.example/device")
                        return identity::Answer{
                            200, R"({"device_code":"d","user_code":"AB-CD","interval":5,)"
                                 R"("verification_uri":"https://idp.example/d","expires_in":600})"};
                    return answer_of_provider;
                }};
        });
        made->fetch_due();
        return made;
    }
    wire::Answered<http::ApiReply> ask(const std::string& operation, const io::Json& members,
                                       const std::string& name = "campus") {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters.emplace("identity", name);
        request.client = "192.0.2.1";
        io::Json body = io::Json::object({{"format", "wheelyard.login/1"}});
        for (const auto& [member, value] : *members.as_object())
            body.set(member, value);
        request.body = body.render();
        return registry::LoginApi({config, *logins, writer, clock}).answer(request);
    }
    static std::string said(const wire::Answered<http::ApiReply>& reply) {
        return reply ? "200" : std::to_string(reply.error().status) + " " + reply.error().code;
    }
    // The state of a log-in by page that has begun.
    std::string begin(const std::string& purpose = "read") {
        const auto reply = ask("beginLogin", io::Json::object({{"secret", secret}, {"purpose", purpose}}));
        REQUIRE(reply.has_value());
        const std::string url = io::parse_json(reply->json)->string_or("url", "");
        CHECK(url.starts_with("https://idp.example/auth?response_type=code&client_id=wheelyard&"));
        const std::size_t at = url.find("&state=") + 7;
        return url.substr(at, url.find('&', at) - at);
    }
    std::string finish(const std::string& state, const std::string& with = secret,
                       const std::string& issuer = farm_issuer, const std::string& name = "campus") {
        return said(ask(
            "finishLogin",
            io::Json::object({{"code", "c"}, {"state", state}, {"iss", issuer}, {"secret", with}}), name));
    }
    void provider_gives(const std::string& token) {
        answer_of_provider = {200, io::Json::object({{"id_token", token}}).render()};
    }
    static std::string good_token() {
        return token_samples().items("good").front().string_at("token").value();
    }
    wire::Answered<http::ApiReply> poll(const std::string& state) {
        return ask("pollDeviceLogin", io::Json::object({{"state", state}, {"secret", secret}}));
    }
    std::string begin_device() {
        const auto reply = ask("beginDeviceLogin", io::Json::object({{"secret", secret}}));
        REQUIRE(reply.has_value());
        const auto json = io::parse_json(reply->json).value();
        CHECK(json.string_or("user_code", "") == "AB-CD");
        return json.string_or("state", "");
    }
};

}  // namespace

TEST_CASE("a log-in by page is finished once, by the tab that began it, at the provider that it began with") {
    LoginFixture farm;
    CHECK(farm.finish("unknown") == "400 login.state");
    CHECK(farm.finish(farm.begin(), std::string(64, 'b')) == "403 login.another_browser");
    CHECK(farm.finish(farm.begin(), secret, "https://evil.example") == "403 login.issuer");
    CHECK(farm.finish(farm.begin(), secret, "") ==
          "403 login.issuer");  // this provider always says who it is
    CHECK(farm.finish(farm.begin(), secret, farm_issuer, "other") == "403 login.issuer");
    CHECK(farm.posts == 0);  // nothing of this was exchanged
    farm.provider_gives(LoginFixture::good_token());
    const std::string state = farm.begin();
    CHECK(farm.finish(state) == "403 login.refused");  // the nonce is that of another log-in
    CHECK(farm.finish(state) == "400 login.state");
    CHECK(farm.posts == 1);
}

TEST_CASE("a log-in that took longer than ten minutes begins again") {
    LoginFixture farm;
    const std::string state = farm.begin();
    farm.clock.sleep_ms(identity::waiting_life_s * 1000);
    CHECK(farm.finish(state) == "400 login.state");
}

TEST_CASE(
    "what a provider refuses, and what it answers instead of a token, ends the log-in with its own words") {
    LoginFixture farm;
    farm.answer_of_provider = {400, R"({"error":"invalid_grant"})"};
    CHECK(farm.finish(farm.begin()) == "403 login.refused");
    farm.answer_of_provider = {502, "<html>"};
    CHECK(farm.finish(farm.begin()) == "503 login.provider");
    const io::Json samples = token_samples();
    for (const io::Json& sample : samples.items("bad")) {
        if (sample.find("keys") != nullptr) continue;
        CAPTURE(sample.string_or("name", ""));
        const std::string token = sample.string_at("token").value();
        farm.provider_gives(token);
        CHECK(farm.finish(farm.begin()) == "403 login.refused");
    }
    std::size_t people = 0;
    for (const catalog::TokenRow& row : farm.cli.tokens().value())
        people += registry::is_person(row.name) ? 1 : 0;
    CHECK(people == 0);
}

TEST_CASE("a device code becomes a token for reading and requests, of the person, with an end") {
    LoginFixture farm;
    const std::string state = farm.begin_device();
    const int asked = farm.posts;
    CHECK(farm.poll(state)->json.find("is_pending") !=
          std::string::npos);  // too early: the provider is not asked
    CHECK(farm.posts == asked);
    farm.clock.sleep_ms(5'000);
    CHECK(farm.poll(state)->json.find("is_pending") != std::string::npos);
    CHECK(farm.posts == asked + 1);
    farm.provider_gives(LoginFixture::good_token());
    farm.clock.sleep_ms(5'000);
    const auto reply = farm.poll(state);
    REQUIRE_MESSAGE(reply.has_value(), reply.error().detail);
    const auto json = io::parse_json(reply->json).value();
    CHECK(json.string_or("format", "") == "wheelyard.token/1");
    CHECK(json.texts("actions") == std::vector<std::string>{"read", "task"});  // never `upload`
    CHECK(json.string_or("created_by", "") == farm_issuer + " anna");
    const std::string header = "Bearer " + json.string_or("token", "");
    const auto identity = farm.tokens->verify(header);
    REQUIRE(identity.has_value());
    CHECK(identity->name == registry::person_name("campus", farm_issuer, "anna", "anna"));
    CHECK(identity->expires == farm.clock.now() + 7 * 24 * 3600 * 1'000'000LL);
    CHECK(LoginFixture::said(farm.poll(state)) == "400 login.state");
    farm.clock.sleep_ms(7LL * 24 * 3600 * 1000);
    const auto ended = farm.tokens->verify(header);
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.error().status == 401);
    CHECK(ended.error().code == "auth.login_ended");
    CHECK(ended.error().detail.find("ended at 2026") != std::string::npos);
}

TEST_CASE("a device that polls too fast is slowed down, and a lost answer ends nothing") {
    LoginFixture farm;
    const std::string state = farm.begin_device();
    farm.answer_of_provider = {400, R"({"error":"slow_down"})"};
    farm.clock.sleep_ms(5'000);
    CHECK(farm.poll(state)->json.find(R"("interval_s":10)") != std::string::npos);
    farm.answer_of_provider = {502, ""};
    farm.clock.sleep_ms(10'000);
    CHECK(farm.poll(state)->json.find("is_pending") != std::string::npos);
    farm.answer_of_provider = {400, R"({"error":"access_denied"})"};
    farm.clock.sleep_ms(10'000);
    CHECK(LoginFixture::said(farm.poll(state)) == "403 login.refused");
    CHECK(LoginFixture::said(farm.poll(state)) == "400 login.state");
}

TEST_CASE("a person without a group of a rule gets no token") {
    LoginFixture farm;
    farm.config.identities.front().allow = {{"/physics", {"main"}, {"*"}, {"read"}}};
    farm.logins =
        std::make_unique<registry::Logins>(farm.config, farm.clock, [&](const identity::ProviderRules&) {
            return registry::Logins::Network{
                [&](const std::string& url) -> base::Result<std::string> { return farm.documents[url]; },
                [&](const std::string& url, const identity::Form&, const std::string&,
                    const std::string&) -> base::Result<identity::Answer> {
                    if (url.ends_with("device"))
                        return identity::Answer{
                            200, R"({"device_code":"d","user_code":"AB-CD","verification_uri":"https://a"})"};
                    return farm.answer_of_provider;
                }};
        });
    farm.logins->fetch_due();
    const std::string state = farm.begin_device();
    farm.provider_gives(LoginFixture::good_token());
    farm.clock.sleep_ms(5'000);
    CHECK(LoginFixture::said(farm.poll(state)) == "403 login.no_rights");
}

TEST_CASE("one person has a bounded number of log-ins, which do not count for others") {
    LoginFixture farm;
    const std::string anna = registry::person_name("campus", farm_issuer, "anna", "Anna");
    for (std::size_t i = 0; i < registry::max_logins_of_person; ++i)
        static_cast<void>(farm.make_token(anna, {"main"}, {"*"}, {"read"}, farm.clock.now() + 1'000'000'000));
    const std::string state = farm.begin_device();
    farm.provider_gives(LoginFixture::good_token());
    farm.clock.sleep_ms(5'000);
    CHECK(LoginFixture::said(farm.poll(state)) == "429 token.too_many");
}

TEST_CASE("requests of another form are refused before anything waits") {
    LoginFixture farm;
    CHECK(farm.said(farm.ask("beginLogin", io::Json::object({{"secret", "short"}}))) == "400 login.body");
    CHECK(farm.said(farm.ask("beginLogin", io::Json::object({{"secret", secret}, {"purpose", "all"}}))) ==
          "400 login.body");
    CHECK(farm.said(farm.ask("finishLogin", io::Json::object({{"state", 1}}))) == "400 login.body");
    CHECK(farm.said(farm.ask("finishLogin", io::Json::object({{"code", std::string(5000, 'c')}}))) ==
          "400 login.body");
    CHECK(farm.said(farm.ask("beginLogin", io::Json::object({{"secret", secret}}), "nobody")) ==
          "404 login.unknown");
    CHECK(farm.said(farm.ask("beginLogin", io::Json::object({{"secret", secret}}), "other")) ==
          "503 login.provider");
    const auto list = io::parse_json(farm.ask("listLogins", io::Json::object())->json).value();
    REQUIRE(list.items("identities").size() == 2);
    CHECK(list.items("identities").at(0).bool_or("is_ready", false));
    CHECK_FALSE(list.items("identities").at(1).bool_or("is_ready", true));
}

TEST_CASE(
    "a token's scope is that of the first rule that fits, and of further ones that add to one side of it") {
    const std::vector<std::string> known{"main", "dev"};
    const AllowRule readers{"", {"main"}, {"*"}, {"read"}};
    const AllowRule dev_readers{"/hpc", {"dev"}, {"*"}, {"read"}};
    const AllowRule askers{"/hpc", {"main", "dev"}, {"*"}, {"task"}};
    const AllowRule makers{"/hpc", {"dev"}, {"six"}, {"upload"}};
    const std::vector<AllowRule> rules{readers, dev_readers, askers, makers};
    using identity::Purpose;
    CHECK(registry::scope_of(rules, {}, Purpose::read, known) == readers);
    CHECK(registry::scope_of(rules, {"/hpc"}, Purpose::read, known) ==
          AllowRule{"", {"main", "dev"}, {"*"}, {"read", "task"}});
    // `upload` of one project in one index joins no wider scope: nobody gets more than a rule says.
    CHECK(registry::scope_of(rules, {"/hpc"}, Purpose::publish, known).actions ==
          std::vector<std::string>{"read", "task"});
    CHECK(registry::scope_of({makers, readers}, {"/hpc"}, Purpose::publish, known) ==
          AllowRule{"", {"dev"}, {"six"}, {"upload"}});
    CHECK(registry::scope_of({makers}, {"/hpc"}, Purpose::read, known).actions.empty());
    CHECK(registry::scope_of({makers}, {"/hp", "/hpc/builders"}, Purpose::publish, known).actions.empty());
    CHECK(registry::scope_of({readers}, {}, Purpose::read, {"dev"}).actions.empty());  // no such index
}
