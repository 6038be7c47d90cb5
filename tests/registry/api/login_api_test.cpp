// Log-in over HTTP, with a provider whose answers the test writes and tokens of tests/registry/identity/data.
#include "registry/api/login_api.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/io/json.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/api/logins.hpp"
#include "registry/identity/limits.hpp"
#include "tests/registry/identity/provider_documents.hpp"
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
    test_support::ProviderDocuments documents{
        {identity::discovery_url(farm_issuer),
         R"({"issuer":")" + farm_issuer +
             R"(","authorization_endpoint":"https://idp.example/auth","token_endpoint":"https://idp.example/token",)"
             R"("jwks_uri":"https://idp.example/keys","device_authorization_endpoint":"https://idp.example/device",)"
             R"("authorization_response_iss_parameter_supported":true})"},
        {"https://idp.example/keys", token_samples().string_at("keys").value()}};
    identity::Answer answer_of_provider{400, R"({"error":"authorization_pending"})"};
    int posts = 0;
    std::string client = "192.0.2.1";
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
        return make_logins_of_config();
    }
    std::unique_ptr<registry::Logins> make_logins_of_config() {
        auto made = std::make_unique<registry::Logins>(config, clock, [this](const identity::ProviderRules&) {
            return registry::Logins::Network{
                test_support::fetch_from(documents),
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
        tokens->recognise_people({"campus", "other"});
        return made;
    }
    wire::Answered<http::ApiReply> ask(const std::string& operation, const io::Json& members,
                                       const std::string& name = "campus") {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters.emplace("identity", name);
        request.client = client;
        io::Json body = io::Json::object({{"format", "wheelyard.login/1"}});
        for (const auto& [member, value] : *members.as_object())
            body.set(member, value);
        request.body = body.render();
        registry::ApiParts of_person = parts();
        of_person.logins = logins.get();
        return registry::Api(of_person).answer(request);
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
    void provider_gives(const std::string& id_token) {
        answer_of_provider = {200, io::Json::object({{"id_token", id_token}}).render()};
    }
    // A log-in by page that waits with the nonce of the sample tokens.
    std::string begin_with_nonce(identity::Purpose purpose) {
        return logins->waiting().begin({.provider = "campus",
                                        .purpose = purpose,
                                        .secret_sha256 = base::sha256_hex(secret),
                                        .verifier = "v",
                                        .nonce = token_samples().string_at("nonce").value(),
                                        .until = clock.now() + 600'000'000});
    }
    // A log-in by device code for which the provider has the token that it was given.
    std::string log_in_by_device() {
        const std::string state = begin_device();
        clock.sleep_ms(5'000);
        std::string answer = said(poll(state));
        clock.sleep_ms(-5'000);
        return answer;
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
    int clients = 0;
    for (const io::Json& sample : samples.items("bad")) {
        if (sample.find("keys") != nullptr) continue;
        const std::string name = sample.string_or("name", "");
        CAPTURE(name);
        // The keys were fetched just now, and may lack that of a new token.
        const bool has_new_key =
            name == "kid is a path" || name == "kid is SQL" || name == "jku and x5u in the header";
        const std::string refused = has_new_key ? "503 login.provider" : "403 login.refused";
        const std::string token = sample.string_at("token").value();
        farm.provider_gives(token);
        farm.client = "192.0.2." + std::to_string(++clients);  // one begins so many a minute
        const std::string code = sample.string_or("code", "");
        if (code != "jwt.nonce") CHECK(farm.log_in_by_device() == refused);  // it has no nonce
        CHECK(farm.finish(farm.begin_with_nonce(identity::Purpose::read)) == refused);
    }
    std::size_t people = 0;
    const auto tokens = farm.cli.tokens().value();
    for (const catalog::TokenRow& row : tokens)
        people += static_cast<std::size_t>(registry::is_person(row.name));
    CHECK(people == 0);
}

TEST_CASE(
    "a log-in by page gives a token with all actions of the rule, for minutes, and one for reading has "
    "fewer") {
    LoginFixture farm;
    farm.provider_gives(LoginFixture::good_token());
    const auto log_in = [&](identity::Purpose purpose) {
        const auto reply =
            farm.ask("finishLogin", io::Json::object({{"code", "c"},
                                                      {"state", farm.begin_with_nonce(purpose)},
                                                      {"iss", farm_issuer},
                                                      {"secret", secret}}));
        REQUIRE_MESSAGE(reply.has_value(), reply.error().detail);
        return io::parse_json(reply->json).value();
    };
    const auto changes = log_in(identity::Purpose::publish);
    CHECK(changes.texts("actions") == std::vector<std::string>{"read", "task", "upload"});
    CHECK(changes.string_or("expires", "") == base::render_rfc3339(farm.clock.now() + 900 * 1'000'000LL));
    CHECK(farm.tokens->verify("Bearer " + changes.string_or("token", "")).has_value());
    CHECK(log_in(identity::Purpose::read).texts("actions") == std::vector<std::string>{"read", "task"});
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
    // What the caller changes is noted under a name that tells nobody who it is.
    CHECK(identity->name == registry::person_name("campus", farm_issuer, "anna", ""));
    CHECK(farm.tokens->shown_names() ==
          std::map<std::string, std::string, std::less<>>{{identity->name, "anna"}});
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

TEST_CASE("a further log-in of a person ends the oldest one: tabs that were closed leave theirs behind") {
    LoginFixture farm;
    const std::string bert = farm.make_token(registry::person_name("campus", farm_issuer, "bert", "Bert"),
                                             {"main"}, {"*"}, {"read"}, farm.clock.now() + 1'000'000'000);
    farm.clock.sleep_ms(1);
    std::vector<std::string> own;
    for (std::size_t i = 0; i < registry::max_logins_of_person; ++i) {
        own.push_back(farm.make_token(registry::person_name("campus", farm_issuer, "anna", "Anna"), {"main"},
                                      {"*"}, {"read"}, farm.clock.now() + 1'000'000'000));
        farm.clock.sleep_ms(1);
    }
    farm.provider_gives(LoginFixture::good_token());
    CHECK(farm.log_in_by_device() == "200");
    CHECK(farm.tokens->verify("Bearer " + own[0]).error().code == "auth.login_ended");
    CHECK(farm.tokens->verify("Bearer " + own[1]).has_value());
    CHECK(farm.tokens->verify("Bearer " + bert).has_value());
}

TEST_CASE("log-ins of people are bounded apart from other tokens") {
    LoginFixture farm;
    const auto add = [&](const std::string& name, std::size_t count, base::UnixMicros expires) {
        const auto rows = static_cast<std::int64_t>(count);
        const auto database =
            sqlite::Database::open(farm.config.store / "catalog.sqlite", sqlite::Database::Mode::read_write)
                .value();
        REQUIRE(
            database.run("INSERT INTO token (id, secret_sha256, name, indexes_json, projects_json, "
                         "actions_json, created, expires, revoked) WITH RECURSIVE n (i) AS "
                         "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT "
                         "printf('wy_%012x', i + ?), printf('%064x', i + ?), ?, '[\"main\"]', "
                         "'[\"six\"]', '[\"read\"]', 0, ?, 0 FROM n",
                         rows, rows, rows, name, expires));
    };
    farm.provider_gives(LoginFixture::good_token());
    add("filler", registry::max_active_tokens, 0);
    CHECK(farm.log_in_by_device() == "200");
    add("login:campus:0000000000000001 Bert", registry::max_active_logins, farm.clock.now() + 1'000'000'000);
    farm.clock.sleep_ms(1);
    CHECK(farm.log_in_by_device() == "429 token.too_many");
}

TEST_CASE(
    "an address that begins log-ins by device without end asks the provider no more, and others still do") {
    LoginFixture farm;
    std::size_t begun = 0;
    for (int i = 0; i < 200; ++i) {
        const auto reply = farm.ask("beginDeviceLogin", io::Json::object({{"secret", secret}}));
        begun += static_cast<std::size_t>(reply.has_value());
    }
    CHECK(begun == identity::max_asked_for_client);
    CHECK(farm.posts == static_cast<int>(begun));
    farm.client = "192.0.2.2";  // a neighbour
    CHECK(farm.begin_device() != "");
    farm.client = "192.0.2.1";
    farm.clock.sleep_ms(identity::asked_window_s * 1000);
    CHECK(farm.begin_device() != "");
}

TEST_CASE(
    "however many log-ins by page strangers begin, from one network or from many, another one goes on") {
    LoginFixture farm;
    const std::string state = farm.begin_with_nonce(identity::Purpose::read);
    for (int i = 0; i < 2'000; ++i) {
        farm.client = i < 100 ? "192.0.2.1" : "10.0." + std::to_string(i % 250) + ".1";
        const auto reply = farm.ask("beginLogin", io::Json::object({{"secret", std::string(64, 'b')}}));
        REQUIRE(reply.has_value());
    }
    farm.client = "192.0.2.1";
    CHECK(farm.begin() != "");
    farm.provider_gives(LoginFixture::good_token());
    CHECK(farm.finish(state) == "200");
}

TEST_CASE("a provider that refuses devices is not asked without end") {
    LoginFixture farm;
    int refused = 0;
    farm.logins =
        std::make_unique<registry::Logins>(farm.config, farm.clock, [&](const identity::ProviderRules&) {
            return registry::Logins::Network{
                [&](const std::string& url) -> base::Result<std::string> { return farm.documents[url]; },
                [&](const std::string&, const identity::Form&, const std::string&,
                    const std::string&) -> base::Result<identity::Answer> {
                    ++refused;
                    return identity::Answer{400, R"({"error":"unauthorized_client"})"};
                }};
        });
    farm.logins->fetch_due();
    for (int i = 0; i < 100; ++i)
        CHECK_FALSE(farm.ask("beginDeviceLogin", io::Json::object({{"secret", secret}})).has_value());
    CHECK(refused == static_cast<int>(identity::max_asked_for_client));
}

TEST_CASE(
    "a network has one request of a kind at a provider, and no other network and no page waits for it") {
    using Kind = registry::RunningLogins::Kind;
    LoginFixture farm;
    farm.provider_gives(LoginFixture::good_token());
    registry::RunningLogins& running = farm.logins->running();
    const std::string device = farm.begin_device();
    const base::UnixMicros now = farm.clock.now();
    REQUIRE(running.enter(Kind::device, "192.0.2.0/24", now));
    CHECK_FALSE(running.enter(Kind::device, "192.0.2.0/24", now));
    CHECK(farm.said(farm.ask("beginDeviceLogin", io::Json::object({{"secret", secret}}))) ==
          "429 login.busy");
    farm.clock.sleep_ms(5'000);
    CHECK(farm.poll(device)->json.find("is_pending") != std::string::npos);
    farm.client = "198.51.100.1";
    CHECK(LoginFixture::said(farm.poll(device)) == "200");
    farm.clock.sleep_ms(-5'000);
    // A page finds its own place. Where that is taken the log-in waits on.
    const std::string state = farm.begin_with_nonce(identity::Purpose::read);
    REQUIRE(running.enter(Kind::page, "198.51.100.0/24", now));
    CHECK(farm.finish(state) == "429 login.busy");
    running.leave(Kind::page, "198.51.100.0/24", true, now);
    CHECK(farm.finish(state) == "200");
}

TEST_CASE("networks whose log-ins came to nothing leave places at the providers to the others") {
    using Kind = registry::RunningLogins::Kind;
    registry::RunningLogins running;
    constexpr base::UnixMicros second = 1'000'000;
    const auto network = [](std::size_t i) { return "10.0." + std::to_string(i) + ".0/24"; };
    const std::size_t flood = 2 * registry::max_running_logins;
    for (std::size_t i = 0; i < flood; ++i) {
        REQUIRE(running.enter(Kind::page, network(i), second));
        running.leave(Kind::page, network(i), false, second);
    }
    std::size_t in = 0;
    for (std::size_t i = 0; i < flood; ++i)
        in += running.enter(Kind::page, network(i), 2 * second) ? 1U : 0U;
    CHECK(in == registry::max_running_logins_of_failed);
    CHECK(running.enter(Kind::page, "192.0.2.0/24", 2 * second));
    running.leave(Kind::page, "192.0.2.0/24", true, 3 * second);
    CHECK(running.enter(Kind::page, "192.0.2.0/24", 4 * second));
    // Devices have places of their own, and what was is forgotten.
    CHECK(running.enter(Kind::device, "198.51.100.0/24", 4 * second));
    CHECK_FALSE(running.enter(Kind::page, network(flood - 1), registry::login_memory_s * second));
    CHECK(running.enter(Kind::page, network(flood - 1), (registry::login_memory_s + 1) * second));
    // However many networks come, new ones find all places of a kind at most.
    registry::RunningLogins other;
    in = 0;
    for (std::size_t i = 0; i < flood; ++i)
        in += other.enter(Kind::page, network(i), second) ? 1U : 0U;
    CHECK(in == registry::max_running_logins_of_a_kind);
    CHECK(other.enter(Kind::device, network(0), second));
}

TEST_CASE("the secret of a confidential client is used only from a file that is its owner's") {
    LoginFixture farm;
    const auto file = farm.dir.path() / "secret";
    REQUIRE(base::replace_file(file, "s3cret\n"));
    const auto code_with = [&](std::filesystem::perms mode) {
        std::filesystem::permissions(file, mode);
        const auto read = registry::read_client_secret(file);
        return read ? *read : read.error().code;
    };
    using enum std::filesystem::perms;
    const auto own = owner_read | owner_write;
    CHECK(code_with(own) == "s3cret");
    CHECK(code_with(own | group_read) == "s3cret");
    for (const auto more : {others_read, others_write, others_exec, group_write})
        CHECK(code_with(own | more) == "login.secret_mode");
    farm.config.identities.front().client_secret_file = file;
    farm.logins = farm.make_logins_of_config();
    CHECK(LoginFixture::said(farm.ask("beginLogin", io::Json::object({{"secret", secret}}))) ==
          "503 login.provider");
    std::filesystem::permissions(file, own);
    CHECK(LoginFixture::said(farm.ask("beginLogin", io::Json::object({{"secret", secret}}))) == "200");
}

TEST_CASE("log-ins are listed, each with whether its provider is ready; a code that is too long is refused") {
    LoginFixture farm;
    CHECK(farm.said(farm.ask("finishLogin", io::Json::object({{"code", std::string(5000, 'c')}}))) ==
          "400 login.body");
    const auto list = io::parse_json(farm.ask("listLogins", io::Json::object())->json).value();
    REQUIRE(list.items("identities").size() == 2);
    CHECK(list.string_or("page", "") == "https://wheels.example/api/v1/login/");
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
