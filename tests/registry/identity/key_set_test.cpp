// Key sets of providers: which key a token may name.
#include "registry/identity/key_set.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using identity::Algorithm;
using identity::KeySet;

namespace {

// RFC 8037, appendix A.2.
const std::string ed25519 =
    R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")";

KeySet set_of(const std::string& keys) {
    return KeySet::parse("{\"keys\":[" + keys + "]}").value();
}

}  // namespace

TEST_CASE("a key without id answers only where it is the only one, and not where an id is asked for") {
    const KeySet alone = set_of(ed25519 + "}");
    CHECK(alone.find(Algorithm::eddsa, std::nullopt).has_value());
    CHECK_FALSE(alone.find(Algorithm::eddsa, "a").has_value());
    const KeySet two = set_of(ed25519 + "}," + ed25519 + R"(,"kid":"a"})");
    CHECK_FALSE(two.find(Algorithm::eddsa, std::nullopt).has_value());
    CHECK(two.find(Algorithm::eddsa, "a").has_value());
    CHECK_FALSE(two.find(Algorithm::rs256, "a").has_value());
}

TEST_CASE("a key says what it is for: `use` and `alg` are absent or fit") {
    for (const char* more :
         {R"(,"kid":"a"})", R"(,"kid":"a","use":"sig"})", R"(,"kid":"a","alg":"EdDSA"})"}) {
        CAPTURE(more);
        CHECK(set_of(ed25519 + more).find(Algorithm::eddsa, "a").has_value());
    }
    for (const char* more : {R"(,"kid":"a","use":"enc"})", R"(,"kid":"a","alg":"ES256"})",
                             R"(,"kid":"a","use":1})", R"(,"kid":["a"]})", R"(,"kid":"a","alg":null})"}) {
        CAPTURE(more);
        CHECK_FALSE(set_of(ed25519 + more).find(Algorithm::eddsa, "a").has_value());
    }
}

TEST_CASE("a point that is not on the curve is no key") {
    const std::string x = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4";  // RFC 7517, appendix A.1
    const std::string y = "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM";
    const auto key = [&](const std::string& second) {
        return R"({"kty":"EC","crv":"P-256","kid":"e","x":")" + x + R"(","y":")" + second + "\"}";
    };
    CHECK(set_of(key(y)).find(Algorithm::es256, "e").has_value());
    CHECK_FALSE(set_of(key(x)).find(Algorithm::es256, "e").has_value());
    CHECK_FALSE(set_of(key(y + "=")).find(Algorithm::es256, "e").has_value());
    CHECK_FALSE(set_of(key("")).find(Algorithm::es256, "e").has_value());
}

TEST_CASE("a set is refused as a whole where it is none, and what is no key in it is passed over") {
    for (const char* text : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[],"keys":[]})"}) {
        CAPTURE(text);
        REQUIRE_FALSE(KeySet::parse(text).has_value());
        CHECK(KeySet::parse(text).error().code == "jwks.form");
    }
    CHECK(set_of("1,null,{}," + ed25519 + R"(,"kid":"a"})").find(Algorithm::eddsa, "a").has_value());
}

TEST_CASE("base64url has one text for each value") {
    CHECK(identity::decode_strict_base64url("").has_value());
    CHECK(identity::decode_strict_base64url("-_8").value() == "\xfb\xff");
    for (const char* text : {"-_9", "+/8", "-_8=", " -_8", "a", "-_8\n"}) {
        CAPTURE(text);
        CHECK_FALSE(identity::decode_strict_base64url(text).has_value());
    }
}
