// Verification of what is signed about a wheel: each thing that may be wrong, and changed bytes of eleven
// documents.
#include "lib/attest/verify.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/attest/envelope.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "tests/attest/samples.hpp"
#include "tests/support/sample.hpp"

namespace wheelyard::attest {
namespace {

std::string verified(const std::string& text, const Trust& trust,
                     const std::string& filename = sample_said().wheel.filename,
                     const std::string& sha256 = sample_said().wheel.sha256) {
    const auto wheel = verify_wheel(filename, sha256, text, trust);
    return wheel ? std::string("ok") : wheel.error().code;
}

Trust trust_in(const SigningKey& key) {
    return {key.public_key(), {}, sample_time, {"main"}};
}

// `text` with its first envelope signed again by `key` over a payload that `change` has changed.
std::string signed_again(const std::string& text, const SigningKey& key,
                         const std::function<void(std::string& payload)>& change) {
    SignedProvenance parts = split_statements(text).value();
    std::string payload = parse_envelope(parts.statements.front())->payload;
    change(payload);
    parts.statements.front() = render_envelope(sign(payload, std::string(statement_type), key));
    return join_statements(parts);
}

// The other signature of the same bytes that ECDSA makes of one: SEQUENCE { INTEGER r, INTEGER n - s }, n the
// order of P-256.
std::string with_other_s(const std::string& signature) {
    constexpr std::string_view order_hex = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    const std::string order = base::decode_hex(order_hex).value();
    const std::size_t at_s = 6 + static_cast<unsigned char>(signature[3]);
    std::string s = signature.substr(at_s);
    s = std::string(order.size() + 1 - std::min(s.size(), order.size() + 1), '\0') + s;  // 33 bytes
    int borrow = 0;
    for (std::size_t i = order.size(); i-- > 0;) {
        const int rest = static_cast<unsigned char>(order[i]) - static_cast<unsigned char>(s[i + 1]) - borrow;
        borrow = rest < 0 ? 1 : 0;
        s[i + 1] = static_cast<char>(rest + 256 * borrow);
    }
    while (s[0] == 0 && static_cast<unsigned char>(s[1]) < 0x80)
        s.erase(0, 1);
    std::string other = signature.substr(0, at_s - 1) + static_cast<char>(s.size()) + s;
    other[1] = static_cast<char>(other.size() - 2);
    return other;
}

}  // namespace

TEST_CASE("a statement is its payload, whichever of the two signatures of ECDSA it has") {
    const SigningKey key = SigningKey::generate();
    const std::string text = sample_signed(key);
    SignedProvenance parts = split_statements(text).value();
    for (std::string& statement : parts.statements) {
        Envelope envelope = parse_envelope(statement).value();
        envelope.signatures.front().bytes = with_other_s(envelope.signatures.front().bytes);
        CHECK(render_envelope(envelope) != statement);
        statement = render_envelope(envelope);
    }
    const std::string other = join_statements(parts);
    CHECK(verified(other, trust_in(key)) == "ok");  // as OpenSSL, which makes either
    const auto payloads = [](const std::string& of) {
        std::vector<std::string> all;
        const SignedProvenance split = split_statements(of).value();
        for (const std::string& statement : split.statements)
            all.push_back(parse_envelope(statement)->payload);
        return all;
    };
    CHECK(payloads(other) == payloads(text));
}

TEST_CASE("a wheel is verified with the key alone, and with the root that names the key") {
    const SigningKey root_key = SigningKey::generate();
    const SigningKey key = SigningKey::generate();
    const std::string text = sample_signed(key);
    const auto by_key =
        verify_wheel(sample_said().wheel.filename, sample_said().wheel.sha256, text, trust_in(key));
    REQUIRE(by_key);
    CHECK(by_key->key_id == key.public_key().id());
    CHECK(by_key->time == sample_time);
    CHECK(by_key->warnings.empty());
    CHECK(by_key->provenance.predicate_type == provenance_predicate);
    CHECK(by_key->summary.predicate_type == summary_predicate);
    Trust trust{{}, sample_root(root_key, key), sample_time, {"main"}};
    CHECK(verified(text, trust) == "ok");
    trust.now = trust.root->expires;
    const auto late = verify_wheel(sample_said().wheel.filename, sample_said().wheel.sha256, text, trust);
    REQUIRE(late);
    REQUIRE(late->warnings.size() == 1);
    CHECK(late->warnings.front().find("expired") != std::string::npos);
    trust.now = sample_time - 10LL * 60 * 1'000'000;
    CHECK(verify_wheel(sample_said().wheel.filename, sample_said().wheel.sha256, text, trust)
              ->warnings.empty());
    --trust.now;
    const auto early = verify_wheel(sample_said().wheel.filename, sample_said().wheel.sha256, text, trust);
    REQUIRE(early);
    REQUIRE(early->warnings.size() == 1);
    CHECK(early->warnings.front().find("check this machine's clock") != std::string::npos);
}

TEST_CASE("each part of a statement that is wrong has its own error") {
    const SigningKey key = SigningKey::generate();
    const SigningKey other = SigningKey::generate();
    const Trust trust = trust_in(key);
    const std::string text = sample_signed(key);
    const SignedProvenance parts = split_statements(text).value();
    CHECK(verified(parts.document, trust) == "attest.none");
    CHECK(verified(text, trust, "demo-1.1-cp311-cp311-linux_x86_64.whl") == "attest.other_wheel");
    CHECK(verified(text, trust, sample_said().wheel.filename, std::string(64, 'f')) == "attest.other_wheel");
    CHECK(verified(text, trust_in(other)) == "attest.unknown_key");
    CHECK(verified(text, {{}, sample_root(key, other), sample_time}) == "attest.unknown_key");  // a root key
    CHECK(verified(signed_again(text, key, [](std::string&) {}), trust) == "ok");
    CHECK(verified(signed_again(text, key, [](std::string& payload) { payload += ' '; }), trust) ==
          "attest.statement");
    CHECK(verified(join_statements({parts.document, {parts.statements[0]}}), trust) == "attest.incomplete");
    CHECK(verified(join_statements({parts.document, {parts.statements[1]}}), trust) == "attest.incomplete");
    CHECK(verified(join_statements({parts.document, {parts.statements[0], parts.statements[0]}}), trust) ==
          "attest.incomplete");
    // Another agent's document with the statements of this wheel.
    wire::WheelProvenance forged = sample_said();
    forged.source.origin = "https://example.org/other.tar.gz";
    CHECK(verified(join_statements({wire::render_wheel_provenance(forged), parts.statements}), trust) ==
          "attest.document");
    // A signature of the right key over another type of document.
    SignedProvenance typed = parts;
    Envelope envelope = parse_envelope(parts.statements[0]).value();
    envelope = sign(envelope.payload, "application/vnd.wheelyard.root+json", key);
    typed.statements[0] = render_envelope(envelope);
    CHECK(verified(join_statements(typed), trust) == "attest.statement");
    envelope.payload_type = statement_type;
    typed.statements[0] = render_envelope(envelope);
    CHECK(verified(join_statements(typed), trust) == "attest.signature");
    envelope = sign(envelope.payload, std::string(statement_type), other);
    envelope.signatures.front().key_id = key.public_key().id();
    typed.statements[0] = render_envelope(envelope);
    CHECK(verified(join_statements(typed), trust) == "attest.signature");
}

TEST_CASE("the statements of two uploads of the same bytes do not fit each other") {
    const SigningKey key = SigningKey::generate();
    const Trust trust = trust_in(key);
    const SignedProvenance good = split_statements(sample_signed(key)).value();
    // Whoever may upload to some index of the registry gets signed what she invents about the public wheel,
    // or what its agent said, in the same microsecond.
    wire::WheelProvenance forged = sample_said();
    forged.source.origin = "https://example.org/other.tar.gz";
    Received received = sample_received();
    received.index = "sandbox";
    received.token_id = "wy_000000000000";
    const SignedProvenance invented = split_statements(sample_signed(key, forged, received)).value();
    const SignedProvenance repeated = split_statements(sample_signed(key, sample_said(), received)).value();
    for (const SignedProvenance* other : {&invented, &repeated}) {
        for (const std::string& document : {good.document, other->document}) {
            CHECK(verified(join_statements({document, {other->statements[0], good.statements[1]}}), trust) ==
                  "attest.mixed");
            CHECK(verified(join_statements({document, {good.statements[0], other->statements[1]}}), trust) ==
                  "attest.mixed");
        }
        CHECK(verified(join_statements(*other), trust) == "attest.index");
    }
    CHECK(verified(join_statements(good), trust) == "ok");
    // The same two the other way round are a second form of the file.
    CHECK(verified(join_statements({good.document, {good.statements[1], good.statements[0]}}), trust) ==
          "attest.order");
}

TEST_CASE("a wheel of another index is refused, and one that was not accepted has a warning") {
    const SigningKey key = SigningKey::generate();
    Trust trust = trust_in(key);
    const auto warnings = [&](const std::string& text) {
        const auto wheel =
            verify_wheel(sample_said().wheel.filename, sample_said().wheel.sha256, text, trust);
        return wheel ? base::join(wheel->warnings, "|") : wheel.error().code;
    };
    const std::string text = sample_signed(key);
    CHECK(warnings(text) == "");
    trust.indexes = {"staging", "main"};
    CHECK(warnings(text) == "");
    trust.indexes = {"staging", "mai", "main2"};
    CHECK(warnings(text) == "attest.index");
    trust.indexes = {};
    CHECK(warnings(text).find("to main: --uploaded-to says") != std::string::npos);
    trust.indexes = {"main"};
    Proved proved = sample_proved();
    proved.outcome = "quarantined";
    const std::string held = sign_wheel(wire::render_wheel_provenance(sample_said()), sample_said(), proved,
                                        sample_received(), key)
                                 .value();
    CHECK(warnings(held).find("has not accepted it, it was quarantined") != std::string::npos);
}

TEST_CASE("an export has a statement of its own kind, about exactly its file") {
    const SigningKey root_key = SigningKey::generate();
    const SigningKey key = SigningKey::generate();
    const ExportedFile file{"audit.jsonl", std::string(64, 'a'), 3, std::string(64, 'b')};
    const std::string text = sign_export(file, {"https://wheels.example.org", sample_time, 7}, key);
    const auto code = [&](const std::string& name, const std::string& sha256, const std::string& statement,
                          const Trust& trust) {
        const auto found = verify_export(name, sha256, statement, trust);
        return found ? base::join(found->warnings, "|") : found.error().code;
    };
    Trust trust{{}, sample_root(root_key, key), sample_time};
    CHECK(code("audit.jsonl", file.sha256, text, trust) == "");
    CHECK(verify_export("audit.jsonl", file.sha256, text, trust)->time == sample_time);
    CHECK(code("licenses.jsonl", file.sha256, text, trust) == "attest.other_file");
    CHECK(code("audit.jsonl", std::string(64, 'c'), text, trust) == "attest.other_file");
    CHECK(code("audit.jsonl", file.sha256, text, trust_in(root_key)) == "attest.unknown_key");
    // Neither the statement of a wheel, which somebody chose the name of, nor the reverse.
    const SignedProvenance wheel = split_statements(sample_signed(key)).value();
    CHECK(code(sample_said().wheel.filename, sample_said().wheel.sha256, wheel.statements.back(), trust) ==
          "attest.statement");
    CHECK(verified(join_statements({wheel.document, {wheel.statements[0], text}}), trust_in(key)) != "ok");
    trust.root->revoked.push_back({key.public_key().id(), sample_time});
    CHECK(code("audit.jsonl", file.sha256, text, trust) == "attest.revoked");
    trust.root->revoked.clear();
    trust.now = trust.root->expires;
    CHECK(code("audit.jsonl", file.sha256, text, trust).find("expired") != std::string::npos);
    trust.now = sample_time - 24LL * 3600 * 1'000'000;
    CHECK(code("audit.jsonl", file.sha256, text, trust).starts_with("signed in the future"));
}

TEST_CASE("after a rotation both keys count, and a revoked key counts up to its time") {
    const SigningKey root_key = SigningKey::generate();
    const SigningKey old_key = SigningKey::generate();
    const SigningKey new_key = SigningKey::generate();
    Root root = sample_root(root_key, old_key);
    root.keys.emplace(new_key.public_key().id(), new_key.public_key());
    root.provenance.push_back(new_key.public_key().id());
    const std::string before = sample_signed(old_key);
    Received later = sample_received();
    later.time += 1;
    const std::string after = sample_signed(old_key, sample_said(), later);
    const std::string by_new = sample_signed(new_key, sample_said(), later);
    for (const std::string* text : {&before, &after, &by_new})
        CHECK(verified(*text, {{}, root, sample_time}) == "ok");
    root.revoked.push_back({old_key.public_key().id(), later.time});
    CHECK(verified(before, {{}, root, sample_time}) == "ok");
    CHECK(verified(after, {{}, root, sample_time}) == "attest.revoked");
    CHECK(verified(by_new, {{}, root, sample_time}) == "ok");
    // The earliest time counts.
    root.revoked.push_back({old_key.public_key().id(), sample_time});
    CHECK(verified(before, {{}, root, sample_time}) == "attest.revoked");
}

TEST_CASE("one flipped bit at any byte of eleven documents is noticed") {
    const SigningKey root_key = SigningKey::generate();
    const SigningKey spare = SigningKey::generate();
    const SigningKey key = SigningKey::generate();
    const Root first = sample_root(root_key, key);
    struct Document {
        std::string text;
        std::function<bool(const std::string&)> is_good;
    };
    std::vector<Document> documents;
    // Four roots: a first one, with a spare key, a next one, one that revokes.
    const auto is_root = [](const std::string& text) { return read_root(text).has_value(); };
    const auto is_next = [first](const std::string& text) { return read_next_root(text, first).has_value(); };
    Root with_spare = first;
    with_spare.keys.emplace(spare.public_key().id(), spare.public_key());
    with_spare.roots.push_back(spare.public_key().id());
    Root revoking = with_spare;
    revoking.version = 2;
    revoking.revoked.push_back({key.public_key().id(), sample_time});
    documents.push_back({sign_root(first, {&root_key}), is_root});
    documents.push_back({sign_root(with_spare, {&root_key, &spare}), is_root});
    documents.push_back({sign_root(sample_root(root_key, spare, 2), {&root_key}), is_next});
    documents.push_back({sign_root(revoking, {&root_key}), is_next});
    // Three provenances with their statements, and three statements alone.
    for (int i = 0; i < 3; ++i) {
        wire::WheelProvenance said;
        said.wheel = sample_said().wheel;
        if (i == 1) said.build.tools = {{"c++", "\x01\"é"}};
        const Trust trust = i < 2 ? trust_in(key) : Trust{{}, first, sample_time};
        const std::string document = wire::render_wheel_provenance(said);
        const Proved proved{"demo", "1.0", i == 2 ? "quarantined" : "accepted", io::Json::object()};
        documents.push_back({sign_wheel(document, said, proved, sample_received(), key).value(),
                             [trust](const std::string& text) { return verified(text, trust) == "ok"; }});
        documents.push_back(
            {split_statements(documents.back().text).value().statements.back(),
             [&key](const std::string& text) {
                 const auto envelope = parse_envelope(text);
                 return envelope && parse_statement(envelope->payload) &&
                        envelope->signatures.front().key_id == key.public_key().id() &&
                        key.public_key().verifies(
                            pre_authentication_encoding(envelope->payload_type, envelope->payload),
                            envelope->signatures.front().bytes);
             }});
    }
    documents.push_back(
        {sign_export({"audit.jsonl", std::string(64, 'a'), 3}, {"urn:r", sample_time, 7}, key),
         [&key](const std::string& text) {
             return verify_export("audit.jsonl", std::string(64, 'a'), text, trust_in(key)).has_value();
         }});
    REQUIRE(documents.size() == 11);
    const std::size_t step = test_support::step_of_sample(17);
    std::size_t flips = 0;
    std::string unnoticed;
    for (const Document& document : documents) {
        REQUIRE(document.is_good(document.text));
        for (std::size_t at = 0; at < document.text.size(); at += step) {
            std::string changed = document.text;
            changed[at] = static_cast<char>(changed[at] ^ (1 << (flips++ % 8)));
            if (document.is_good(changed))
                unnoticed += " " + std::to_string(at) + ":" + document.text.substr(at, 8);
        }
    }
    CHECK(flips > 10'000 / step);
    CHECK(unnoticed == "");
}

}  // namespace wheelyard::attest
