// DSSE envelopes: the bytes that are signed, one form, and an envelope that another program signed.
#include "lib/attest/envelope.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::attest {
namespace {

std::string data(const std::string& name) {
    return base::read_file(std::string(WHEELYARD_TEST_DATA "/attest/data/") + name, 1 << 16).value();
}

}  // namespace

// The example of the protocol's page: github.com/secure-systems-lab/dsse, protocol.md.
TEST_CASE("what is signed begins with the type, so that no document is taken for another") {
    CHECK(pre_authentication_encoding("http://example.com/HelloWorld", "hello world") ==
          "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    CHECK(pre_authentication_encoding("", "") == "DSSEv1 0  0 ");
}

TEST_CASE("an envelope that securesystemslib signed is read and verified") {
    const auto key = PublicKey::from_pem(data("securesystemslib.pub"));
    const auto envelope = parse_envelope(data("securesystemslib.dsse"));
    REQUIRE(key);
    REQUIRE(envelope);
    REQUIRE(envelope->signatures.size() == 1);
    CHECK(envelope->signatures.front().key_id == key->id());
    CHECK(key->verifies(pre_authentication_encoding(envelope->payload_type, envelope->payload),
                        envelope->signatures.front().bytes));
    const auto statement = parse_statement(envelope->payload);
    REQUIRE(statement);
    CHECK(statement->filename == "demo-1.0-py3-none-any.whl");
    CHECK(statement->predicate_type == provenance_predicate);
}

TEST_CASE("an envelope has one form: any other spelling of the same is refused") {
    const SigningKey key = SigningKey::generate();
    const std::string text = render_envelope(sign("{}x", "a/b", key));
    REQUIRE(parse_envelope(text));
    CHECK(render_envelope(*parse_envelope(text)) == text);
    const std::string id = key.public_key().id();
    const std::string payload = R"("payload":"e314")";
    REQUIRE(text.find(payload) == 1);
    std::string without = text;
    without.replace(1, payload.size() + 1, "");
    for (const std::string& other :
         {std::string(), std::string("[]"), std::string("{}"), " " + text, text + "\n", without,
          "{" + payload + "," + text.substr(1),
          std::string(R"({"payload":"e314","payloadType":"a/b","signatures":[]})"),
          std::string(R"({"payload":"e319","payloadType":"a/b","signatures":[{"keyid":"","sig":"AB=="}]})"),
          std::string(R"({"payloadType":"a/b","payload":"e314","signatures":[{"keyid":"","sig":"AA=="}]})"),
          text.substr(0, text.size() - 1) + R"(,"more":1})"}) {
        CAPTURE(other);
        const auto refused = parse_envelope(other);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == "attest.envelope");
    }
    CHECK(
        parse_envelope(R"({"payload":"e314","payloadType":"a/b","signatures":[{"keyid":"","sig":"AA=="}]})"));
}

}  // namespace wheelyard::attest
