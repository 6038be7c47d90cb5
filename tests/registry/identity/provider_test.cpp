// What a provider says of itself, and when it is asked again.
#include "registry/identity/provider.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "lib/base/files/file.hpp"
#include "tests/registry/identity/provider_documents.hpp"

using namespace wheelyard;
using identity::Provider;
using identity::ProviderRules;

namespace {

const std::string issuer = "https://idp.example/realms/farm";

std::string description(const std::string& own = issuer, const std::string& more = "") {
    return R"({"issuer":")" + own +
           R"(","authorization_endpoint":"https://idp.example/auth","token_endpoint":"https://idp.example/token",)"
           R"("jwks_uri":"https://idp.example/keys")" +
           more + "}";
}

ProviderRules rules() {
    return {.issuer = issuer, .client_id = "wheelyard", .hosts = {}};
}

io::Json sample_tokens() {
    return io::parse_json(
               base::read_file(std::string(WHEELYARD_TEST_DATA) + "/registry/identity/data/tokens.json",
                               1u << 20)
                   .value())
        .value();
}

// Issued at the time of World, with a key that its first set lacks.
std::string newest_token() {
    return sample_tokens().items("good").front().string_at("token").value();
}

// A provider whose documents a test changes, at the time of the sample tokens.
struct World {
    wheelyard::test_support::ProviderDocuments documents{{identity::discovery_url(issuer), description()},
                                                         {"https://idp.example/keys", R"({"keys":[]})"}};
    std::vector<std::string> fetched;
    base::ManualClock clock{1'795'700'000'000'000};
    Provider provider{rules(),
                      [this](const std::string& url) -> base::Result<std::string> {
                          fetched.push_back(url);
                          return wheelyard::test_support::fetch_from(documents)(url);
                      },
                      clock};
    void advance_s(std::int64_t seconds) { clock.sleep_ms(seconds * 1000); }
};

}  // namespace

TEST_CASE("the addresses of a provider come from its description") {
    const auto found = identity::parse_discovery(
        description(issuer, R"(,"authorization_response_iss_parameter_supported":true,)"
                            R"("device_authorization_endpoint":"https://idp.example/device")"),
        rules());
    REQUIRE(found.has_value());
    CHECK(found->token == "https://idp.example/token");
    CHECK(found->device == "https://idp.example/device");
    CHECK(found->names_itself);
    CHECK_FALSE(identity::parse_discovery(description(), rules())->names_itself);
}

TEST_CASE("the well-known address follows an issuer with or without a slash at its end") {
    CHECK(identity::discovery_url("https://a.example") ==
          "https://a.example/.well-known/openid-configuration");
    CHECK(identity::discovery_url("https://a.example/x/") ==
          "https://a.example/x/.well-known/openid-configuration");
}

TEST_CASE("a description of another issuer, or one that is none, is refused") {
    for (const std::string& other : {issuer + "/", std::string("https://evil.example"), std::string()}) {
        CAPTURE(other);
        CHECK(identity::parse_discovery(description(other), rules()).error().code == "provider.issuer");
    }
    for (const char* text : {"", "<html>", R"({"issuer":"a","issuer":"b"})"}) {
        CAPTURE(text);
        CHECK(identity::parse_discovery(text, rules()).error().code == "provider.document");
    }
    CHECK(identity::parse_discovery(R"({"issuer":")" + issuer + R"("})", rules()).error().code ==
          "provider.document");
}

TEST_CASE("requests go to the issuer's host and to those that are configured, over https") {
    ProviderRules permitted = rules();
    permitted.hosts = {"keys.example", "other.example:8443"};
    for (const char* url : {"https://idp.example/x", "https://keys.example/x", "https://keys.example:443/x",
                            "https://other.example:8443/x"}) {
        CAPTURE(url);
        CHECK(identity::check_address(permitted, url).has_value());
    }
    for (const char* url : {"http://idp.example/x", "https://idp.example:8443/x", "https://evil.example/x",
                            "https://other.example/x", "https://keys.example:8443/", "file:///etc/passwd",
                            "https://user@idp.example/", "", "idp.example"}) {
        CAPTURE(url);
        REQUIRE_FALSE(identity::check_address(permitted, url).has_value());
        CHECK(identity::check_address(permitted, url).error().code == "provider.address");
    }
    ProviderRules local{.issuer = "http://127.0.0.1:9000", .client_id = "w", .hosts = {}, .allow_http = true};
    CHECK(identity::check_address(local, "http://127.0.0.1:9000/token").has_value());
    CHECK_FALSE(identity::check_address(local, "http://127.0.0.1:9001/token").has_value());
}

TEST_CASE("a provider is asked at most once a minute, and every ten minutes") {
    World world;
    CHECK(world.provider.is_due());
    CHECK(world.provider.fetch().has_value());
    CHECK(world.fetched.size() == 2);
    CHECK(world.provider.now() != nullptr);
    world.advance_s(59);
    CHECK_FALSE(world.provider.is_due());
    CHECK_FALSE(world.provider.verify(newest_token(), {issuer, "wheelyard", "n-1"}, 0));
    CHECK_FALSE(world.provider.is_due());
    world.advance_s(1);
    CHECK(world.provider.is_due());
    CHECK(world.provider.fetch().has_value());
    CHECK_FALSE(world.provider.is_due());
    world.advance_s(599);
    CHECK_FALSE(world.provider.is_due());
    world.advance_s(1);
    CHECK(world.provider.is_due());
}

TEST_CASE("what was fetched stays in use while a provider does not answer, or answers nonsense") {
    World world;
    REQUIRE(world.provider.fetch().has_value());
    const auto before = world.provider.now();
    world.documents["https://idp.example/keys"] = "<html>";
    CHECK(world.provider.fetch().error().code == "jwks.form");
    world.documents[identity::discovery_url(issuer)] = description("https://evil.example");
    CHECK(world.provider.fetch().error().code == "provider.issuer");
    world.documents.clear();
    CHECK(world.provider.fetch().error().code == "http.connect");
    CHECK(world.provider.now() == before);
}

TEST_CASE("keys are not fetched from a host that the description only names") {
    World world;
    world.documents[identity::discovery_url(issuer)] =
        R"({"issuer":")" + issuer +
        R"(","authorization_endpoint":"https://idp.example/auth","token_endpoint":"https://idp.example/token",)"
        R"("jwks_uri":"https://169.254.169.254/keys"})";
    CHECK(world.provider.fetch().error().code == "provider.address");
    CHECK(world.fetched.size() == 1);
}

TEST_CASE(
    "a token of a new key is refused for now until the keys are newer, then for good, with one request a "
    "minute") {
    World world;
    const std::string token = newest_token();
    const identity::Expected expected{issuer, "wheelyard", "n-1"};
    const auto code = [&](const std::string& of) {
        return world.provider.verify(of, expected, 0).error().code;
    };
    CHECK(code(token) == "provider.unknown");
    REQUIRE(world.provider.fetch().has_value());  // with an old set
    CHECK(code(token) == "provider.new_key");
    CHECK(world.provider.verify(token, expected, 0).error().may_pass());
    CHECK_FALSE(world.provider.is_due());  // a minute has not passed
    world.documents["https://idp.example/keys"] = sample_tokens().string_at("keys").value();
    world.advance_s(60);
    REQUIRE(world.provider.is_due());
    REQUIRE(world.provider.fetch().has_value());
    CHECK(world.provider.verify(token, expected, 0)->subject == "anna");
    const std::size_t fetched = world.fetched.size();
    const std::string unknown =
        "eyJhbGciOiJSUzI1NiIsImtpZCI6Im5vbmUifQ" + token.substr(token.find('.'));  // kid "none"
    for (int i = 0; i < 100; ++i)
        CHECK(code(unknown) == "provider.new_key");  // the clocks of both may differ by a minute
    CHECK_FALSE(world.provider.is_due());
    CHECK(world.fetched.size() == fetched);
    world.advance_s(61);
    REQUIRE(world.provider.is_due());
    REQUIRE(world.provider.fetch().has_value());
    CHECK(code(unknown) == "jwt.key");
    CHECK_FALSE(world.provider.verify(unknown, expected, 0).error().may_pass());
    world.advance_s(61);
    CHECK_FALSE(world.provider.is_due());
}
