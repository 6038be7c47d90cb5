// Tokens and key sets of data/make_tokens.py: each forged one is refused by the check that has to find it.
#include "registry/identity/token.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"

using namespace wheelyard;
using identity::Claims;
using identity::KeySet;

namespace {

struct Samples {
    io::Json json;
    [[nodiscard]] std::string text(std::string_view name) const { return json.string_at(name).value(); }
    [[nodiscard]] identity::Expected expected() const {
        return {text("issuer"), text("client_id"), text("nonce")};
    }
    [[nodiscard]] std::string forged(std::string_view name) const {
        for (const io::Json& sample : json.items("bad"))
            if (sample.string_or("name", "") == name) return sample.string_at("token").value();
        FAIL("no forged token of this name");
        return {};
    }
    [[nodiscard]] std::int64_t now_s() const { return json.int_at("now").value(); }
    [[nodiscard]] base::Result<Claims> verify(const io::Json& sample) const {
        WHEELYARD_ASSIGN(const KeySet keys, KeySet::parse(sample.string_or("keys", text("keys"))));
        return identity::verify_token(*sample.find("token")->as_string(), keys, expected(), now_s());
    }
};

const Samples& samples() {
    static const Samples read{
        io::parse_json(base::read_file(
                           std::string(WHEELYARD_TEST_DATA) + "/registry/identity/data/tokens.json", 1u << 20)
                           .value())
            .value()};
    return read;
}

Claims claims_of(io::Json all) {
    Claims claims;
    claims.subject = "s-1";
    claims.all = std::move(all);
    return claims;
}

}  // namespace

TEST_CASE("tokens of the three algorithms are accepted, with a minute of clock skew") {
    REQUIRE(samples().json.items("good").size() == 7);
    for (const io::Json& sample : samples().json.items("good")) {
        CAPTURE(sample.string_or("name", ""));
        const auto claims = samples().verify(sample);
        REQUIRE_MESSAGE(claims.has_value(), claims.error().text());
        CHECK(claims->subject == "anna");
        CHECK(claims->issuer == samples().text("issuer"));
        CHECK(claims->groups("groups") == std::vector<std::string>{"/hpc"});
    }
}

TEST_CASE("each of 63 forged tokens and key sets is refused by the check that has to find it") {
    REQUIRE(samples().json.items("bad").size() == 63);
    for (const io::Json& sample : samples().json.items("bad")) {
        CAPTURE(sample.string_or("name", ""));
        const auto claims = samples().verify(sample);
        REQUIRE_FALSE(claims.has_value());
        CHECK_MESSAGE(claims.error().code == sample.string_or("code", ""), claims.error().text());
    }
}

TEST_CASE("without a nonce of ours none is compared, as after a device code") {
    const io::Json& sample = samples().json.items("good").front();
    identity::Expected expected = samples().expected();
    const KeySet keys = KeySet::parse(samples().text("keys")).value();
    const std::string token = sample.string_at("token").value();
    expected.nonce = std::nullopt;
    CHECK(identity::verify_token(token, keys, expected, samples().now_s()).has_value());
}

TEST_CASE("a token is accepted until a minute after its end, and no second longer") {
    const KeySet keys = KeySet::parse(samples().text("keys")).value();
    const std::string token = samples().json.items("good").front().string_at("token").value();
    const std::int64_t end = samples().now_s() + 300;
    CHECK(identity::verify_token(token, keys, samples().expected(), end + 59).has_value());
    const auto late = identity::verify_token(token, keys, samples().expected(), end + 60);
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error().code == "jwt.expired");
}

TEST_CASE("the issuer that a token claims is read before anything is verified") {
    CHECK(identity::claimed_by(samples().forged("another issuer"))->issuer == "https://evil.example");
    CHECK(identity::claimed_by("a.b").error().code == "jwt.form");
}

TEST_CASE("where another client asks for the tokens, it must, and they must be for us as well") {
    const KeySet keys = KeySet::parse(samples().text("keys")).value();
    identity::Expected expected = samples().expected();
    const auto said = [&](const std::string& token) {
        const auto claims = identity::verify_token(token, keys, expected, samples().now_s());
        return claims ? claims->subject : claims.error().code;
    };
    CHECK(identity::claimed_by(samples().forged("azp of another"))->party == "x");
    expected.party = "x";
    CHECK(said(samples().forged("azp of another")) == "anna");
    CHECK(said(samples().forged("azp of another, one aud")) == "anna");
    CHECK(said(samples().forged("aud of two, no azp")) == "jwt.party");
    CHECK(said(samples().forged("access token")) == "jwt.party");  // has no azp
    for (const io::Json& sample : samples().json.items("good")) {
        CAPTURE(sample.string_or("name", ""));
        CHECK(said(sample.string_at("token").value()) == "jwt.party");
    }
    expected.party = "X";
    CHECK(said(samples().forged("azp of another")) == "jwt.party");
    expected.party = "x";
    expected.client_id = "other";
    CHECK(said(samples().forged("azp of another")) == "jwt.audience");
}

TEST_CASE("a token that has to be for us alone has no second audience, whoever asked for it") {
    const KeySet keys = KeySet::parse(samples().text("keys")).value();
    identity::Expected expected = samples().expected();
    expected.is_alone = true;
    int for_two = 0;
    for (const io::Json& sample : samples().json.items("good")) {
        CAPTURE(sample.string_or("name", ""));
        const auto claims =
            identity::verify_token(sample.string_at("token").value(), keys, expected, samples().now_s());
        const auto all = identity::verify_token(sample.string_at("token").value(), keys, samples().expected(),
                                                samples().now_s());
        const bool has_two = all->all.texts("aud").size() > 1;
        for_two += static_cast<int>(has_two);
        CHECK((claims ? "good" : claims.error().code) == (has_two ? "jwt.audience" : "good"));
    }
    CHECK(for_two > 0);
}

TEST_CASE("a token with any one character changed is refused") {
    const std::string token = samples().json.items("good").at(2).string_at("token").value();  // EdDSA: short
    const KeySet keys = KeySet::parse(samples().text("keys")).value();
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string changed = token;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        CAPTURE(at);
        CHECK_FALSE(
            identity::verify_token(changed, keys, samples().expected(), samples().now_s()).has_value());
    }
}

TEST_CASE("groups are a list of texts; any other form has none") {
    const io::Json names = io::Json::array_of(std::vector<std::string>{"/hpc", "/hpc/builders"});
    CHECK(claims_of(io::Json::object({{"groups", names}})).groups("groups").size() == 2);
    CHECK(claims_of(io::Json::object()).groups("groups").empty());
    CHECK(claims_of(io::Json::object({{"groups", "/hpc"}})).groups("groups").empty());
    io::Json mixed = names;
    mixed.push(io::Json(1));
    CHECK(claims_of(io::Json::object({{"groups", mixed}})).groups("groups").empty());
}

TEST_CASE("a shown name is one printable line of at most 60 bytes, cut between characters") {
    const auto shown = [](const std::string& name) {
        return claims_of(io::Json::object({{"name", name}})).shown_name();
    };
    CHECK(shown("Anna M\xc3\xbcller") == "Anna M\xc3\xbcller");
    CHECK(shown("Anna\nadmin") == "Annaadmin");
    CHECK(shown("\xe2\x80\xae"
                "Anna") == "Anna");  // right-to-left override
    CHECK(shown(std::string(59, 'a') + "\xc3\xbc") == std::string(59, 'a'));
    CHECK(shown("") == "s-1");
    CHECK(claims_of(io::Json::object({{"preferred_username", "anna"}})).shown_name() == "anna");
}
