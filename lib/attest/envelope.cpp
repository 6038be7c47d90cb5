// Envelopes as JSON.
#include "lib/attest/envelope.hpp"

#include <cstddef>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::attest {

namespace {

constexpr std::size_t max_signatures = 8;  // of one envelope

using io::Json;

tl::unexpected<base::Error> fail_envelope(std::string sentence, std::string value = {}) {
    return base::fail_malformed("attest.envelope", std::move(sentence), std::move(value),
                                "fetch the document again; a registry writes it in exactly one form");
}

base::Result<std::string> bytes_at(const Json& json, std::string_view name) {
    WHEELYARD_ASSIGN(const std::string text, json.string_at(name));
    return base::decode_base64(text);
}

base::Result<Envelope> read_envelope(const Json& json) {
    Envelope envelope;
    WHEELYARD_ASSIGN(envelope.payload, bytes_at(json, "payload"));
    WHEELYARD_ASSIGN(envelope.payload_type, json.string_at("payloadType"));
    for (const Json& one : json.items("signatures")) {
        Signature signature;
        WHEELYARD_ASSIGN(signature.key_id, one.string_at("keyid"));
        WHEELYARD_ASSIGN(signature.bytes, bytes_at(one, "sig"));
        envelope.signatures.push_back(std::move(signature));
    }
    return envelope;
}

}  // namespace

std::string pre_authentication_encoding(std::string_view type, std::string_view payload) {
    std::string text = "DSSEv1 " + std::to_string(type.size()) + " ";
    text.append(type).append(" ").append(std::to_string(payload.size())).append(" ").append(payload);
    return text;
}

Envelope sign(std::string payload, std::string type, const SigningKey& key) {
    std::string signature = key.sign(pre_authentication_encoding(type, payload));
    return {std::move(payload), std::move(type), {{key.public_key().id(), std::move(signature)}}};
}

std::string render_envelope(const Envelope& envelope) {
    Json signatures = Json::array();
    for (const Signature& one : envelope.signatures)
        signatures.push(Json::object({{"keyid", one.key_id}, {"sig", base::encode_base64(one.bytes)}}));
    return Json::object({{"payload", base::encode_base64(envelope.payload)},
                         {"payloadType", envelope.payload_type},
                         {"signatures", std::move(signatures)}})
        .render();
}

base::Result<Envelope> parse_envelope(std::string_view text, std::string_view what) {
    const auto json = io::parse_json(text, {.bytes = max_signed_bytes, .depth = max_depth});
    if (!json) return fail_envelope(std::string(what) + " is no JSON", json.error().text());
    auto envelope = read_envelope(*json);
    if (!envelope) return fail_envelope(std::string(what) + " lacks a part: " + envelope.error().sentence);
    if (envelope->signatures.empty() || envelope->signatures.size() > max_signatures)
        return fail_envelope(std::string(what) + " has no signature, or too many",
                             std::to_string(envelope->signatures.size()));
    if (render_envelope(*envelope) != text)
        return fail_envelope(std::string(what) + " is not in its one form");
    return envelope;
}

namespace {

using io::Json;

constexpr std::string_view in_toto_type = "https://in-toto.io/Statement/v1";

tl::unexpected<base::Error> fail_statement(std::string sentence, std::string value = {}) {
    return base::fail_malformed("attest.statement", std::move(sentence), std::move(value),
                                "the signer has to write an in-toto statement about one file");
}

}  // namespace

std::string render_statement(const Statement& statement) {
    Json subject = Json::array();
    subject.push(Json::object(
        {{"name", statement.filename}, {"digest", Json::object({{"sha256", statement.sha256}})}}));
    return Json::object({{"_type", in_toto_type},
                         {"subject", std::move(subject)},
                         {"predicateType", statement.predicate_type},
                         {"predicate", statement.predicate}})
        .render_signed();
}

base::Result<Statement> parse_statement(std::string_view text) {
    const auto json = io::parse_json(text, {.bytes = max_signed_bytes, .depth = max_depth});
    if (!json) return fail_statement("A statement is no JSON", json.error().text());
    if (json->string_or("_type", {}) != in_toto_type)
        return fail_statement("A statement is of another type", json->string_or("_type", {}));
    const Json::Array& subjects = json->items("subject");
    if (subjects.size() != 1)
        return fail_statement("A statement is not about one file", std::to_string(subjects.size()));
    Statement statement;
    statement.filename = subjects.front().string_or("name", {});
    if (const Json* digest = subjects.front().find("digest"); digest != nullptr)
        statement.sha256 = digest->string_or("sha256", {});
    statement.predicate_type = json->string_or("predicateType", {});
    const Json* predicate = json->find("predicate");
    if (statement.filename.empty() || !base::is_sha256_hex(statement.sha256))
        return fail_statement("A statement names no file with its SHA-256", statement.filename);
    if (predicate == nullptr || predicate->as_object() == nullptr)
        return fail_statement("A statement says nothing", statement.filename);
    statement.predicate = *predicate;
    if (render_statement(statement) != text)
        return fail_statement("A statement is not in its one form", statement.filename);
    return statement;
}

using io::Json;

std::string sign_export(const ExportedFile& file, const Export& of, const SigningKey& key) {
    Json predicate = Json::object(
        {{"registry", Json::object({{"id", of.registry},
                                    {"version", Json::object({{"wheelyard-registry", WHEELYARD_VERSION}})}})},
         {"time", base::render_rfc3339(of.time)},
         {"serial", of.serial},
         {"records", file.records}});
    if (!file.head.empty()) predicate.set("head", file.head);
    const Statement statement{file.filename, file.sha256, std::string(export_predicate),
                              std::move(predicate)};
    return render_envelope(sign(render_statement(statement), std::string(statement_type), key));
}

}  // namespace wheelyard::attest
