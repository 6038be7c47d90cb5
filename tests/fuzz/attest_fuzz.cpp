// Signed documents from anybody: envelopes, statements, root documents, and provenances with statements have
// one form.
#include <cstdint>
#include <string_view>

#include "lib/attest/envelope.hpp"
#include "lib/attest/root.hpp"
#include "lib/attest/verify.hpp"
#include "lib/attest/wheel_statements.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto check = [text](auto parsed, auto render) {
        if (parsed)
            fuzz::require(render(*parsed) == text);
        else
            fuzz::require(!parsed.error().code.empty());
    };
    check(attest::parse_envelope(text), attest::render_envelope);
    check(attest::parse_statement(text), attest::render_statement);
    check(attest::split_statements(text), attest::join_statements);
    if (const auto root = attest::read_root(text); !root) fuzz::require(!root.error().code.empty());
    if (const auto key = attest::PublicKey::from_pem(text); key)
        fuzz::require(attest::PublicKey::from_der(key->der()).has_value());
    // No input is signed by a key that was made here.
    static const attest::SigningKey key = attest::SigningKey::generate();
    fuzz::require(!attest::verify_wheel("a.whl", "", text, {key.public_key(), {}, 0}));
    fuzz::require(!attest::verify_export("a", "", text, {key.public_key(), {}, 0}));
    return 0;
}
