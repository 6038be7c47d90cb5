// What a log-in sends to a provider, and what its answers mean.
#include "registry/identity/exchange.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace wheelyard;
using identity::Answer;
using identity::Client;
using identity::Endpoints;

namespace {

const Endpoints places{.authorization = "https://idp.example/auth",
                       .token = "https://idp.example/token",
                       .keys = "https://idp.example/keys",
                       .device = "https://idp.example/device"};
const Client we{.id = "wheelyard",
                .secret = "",
                .redirect = "https://wheels.example/api/v1/login/campus/",
                .scopes = "openid profile"};

// Answers with `status` and `body`, and keeps what was sent.
struct FakeProvider {
    int status = 200;
    std::string body;
    std::string url = {};
    std::map<std::string, std::string> sent = {};
    identity::Post post() {
        return [this](const std::string& to, const identity::Form& form, const std::string&,
                      const std::string&) -> base::Result<Answer> {
            url = to;
            sent = {form.begin(), form.end()};
            return Answer{status, body};
        };
    }
    std::string code_of_exchange() {
        const auto token = identity::exchange_code(places, we, "c", "v", post());
        return token ? "token " + *token : token.error().code + " " + token.error().value;
    }
    std::string said_to_poll() {
        const auto poll = identity::poll_device(places, we, "d", "v", post());
        if (!poll) return poll.error().code + " " + poll.error().value;
        return poll->id_token.empty() ? "wait " + std::to_string(poll->longer_by_s)
                                      : "token " + poll->id_token;
    }
};

}  // namespace

TEST_CASE("the challenge of a verifier is that of RFC 7636, appendix B") {
    CHECK(identity::challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") ==
          "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    CHECK(identity::random_text().size() == 43);
    CHECK(identity::random_text() != identity::random_text());
}

TEST_CASE("the browser is sent to the provider with state, nonce and challenge, each encoded") {
    const std::string url =
        identity::authorization_url(places, we, {"s&1", "n", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"});
    CHECK(url ==
          "https://idp.example/auth?response_type=code&client_id=wheelyard&"
          "redirect_uri=https%3A%2F%2Fwheels.example%2Fapi%2Fv1%2Flogin%2Fcampus%2F&scope=openid%20profile&"
          "state=s%261&nonce=n&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&"
          "code_challenge_method=S256");
    Endpoints with_query = places;
    with_query.authorization += "?tenant=a";
    CHECK(identity::authorization_url(with_query, we, {"s", "n", "v"})
              .starts_with("https://idp.example/auth?tenant=a&response_type="));
}

TEST_CASE("a code is exchanged with its verifier and the same redirect") {
    FakeProvider provider{.body = R"({"access_token":"a","id_token":"a.b.c","token_type":"Bearer"})"};
    CHECK(provider.code_of_exchange() == "token a.b.c");
    CHECK(provider.url == places.token);
    CHECK(provider.sent == std::map<std::string, std::string>{{"grant_type", "authorization_code"},
                                                              {"client_id", "wheelyard"},
                                                              {"code", "c"},
                                                              {"redirect_uri", we.redirect},
                                                              {"code_verifier", "v"}});
}

TEST_CASE("a provider's refusal is told by its word, and never by its longer text") {
    CHECK(FakeProvider{400, R"({"error":"invalid_grant","error_description":"secret"})"}.code_of_exchange() ==
          "provider.refused invalid_grant");
    const auto advice = [](const std::string& body) {
        return identity::exchange_code(places, we, "c", "v", FakeProvider{401, body}.post()).error().advice;
    };
    CHECK(advice(R"({"error":"invalid_grant"})") == "log in again");
    CHECK(advice(R"({"error":"invalid_client"})").find("operator") != std::string::npos);
    CHECK(FakeProvider{400, R"({"error":"<script>"})"}.code_of_exchange() == "provider.refused status 400");
    CHECK(FakeProvider{200, R"({"access_token":"a"})"}.code_of_exchange() == "provider.answer ");
    CHECK(FakeProvider{502, "<html>"}.code_of_exchange() == "provider.answer status 502");
    CHECK(FakeProvider{302, ""}.code_of_exchange() == "provider.answer status 302");
    CHECK(FakeProvider{200, R"({"id_token":"a","id_token":"b"})"}.code_of_exchange() ==
          "provider.answer status 200");
}

TEST_CASE("a device code is asked for with PKCE, and waits five seconds where the provider does not say") {
    FakeProvider provider{
        .body =
            R"({"device_code":"d","user_code":"AB-CD","verification_uri":"https://idp.example/d","expires_in":600})"};
    const auto code = identity::begin_device(places, we, "v", provider.post());
    REQUIRE(code.has_value());
    CHECK(provider.url == places.device);
    CHECK(provider.sent.at("code_challenge") == identity::challenge_of("v"));
    CHECK(code->user == "AB-CD");
    CHECK(code->interval_s == 5);
    CHECK(code->complete_url.empty());
    Endpoints none = places;
    none.device.clear();
    CHECK(identity::begin_device(none, we, "v", provider.post()).error().code == "provider.no_device");
}

TEST_CASE("the answers to a poll of RFC 8628") {
    CHECK(FakeProvider{400, R"({"error":"authorization_pending"})"}.said_to_poll() == "wait 0");
    CHECK(FakeProvider{400, R"({"error":"slow_down"})"}.said_to_poll() == "wait 5");
    CHECK(FakeProvider{400, R"({"error":"access_denied"})"}.said_to_poll() ==
          "provider.refused access_denied");
    CHECK(FakeProvider{400, R"({"error":"expired_token"})"}.said_to_poll() ==
          "provider.refused expired_token");
    FakeProvider done{200, R"({"id_token":"a.b.c"})"};
    CHECK(done.said_to_poll() == "token a.b.c");
    CHECK(done.sent.at("code_verifier") == "v");
}
