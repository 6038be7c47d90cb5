// Envelopes as JSON.
#include "lib/attest/envelope.hpp"

#include <cstddef>
#include <utility>

#include "lib/attest/limits.hpp"
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

}  // namespace wheelyard::attest
