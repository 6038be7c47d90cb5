// DSSE envelopes (Dead Simple Signing Envelope, version 1): a payload, its type, and signatures over both.
//
//     {"payload":"BASE64","payloadType":"application/vnd.in-toto+json",
//      "signatures":[{"keyid":"SHA-256 of the DER public key","sig":"BASE64 of the DER signature"}]}
//
// What is signed is the pre-authentication encoding, so a document of one type is never taken for one of another:
//     DSSEv1 LENGTH TYPE LENGTH PAYLOAD
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/keys.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::attest {

struct Signature {
    std::string key_id;  // a hint: it is not signed
    std::string bytes;   // DER
};

struct Envelope {
    std::string payload;  // the bytes, not their base64
    std::string payload_type;
    std::vector<Signature> signatures;
};

[[nodiscard]] std::string pre_authentication_encoding(std::string_view type, std::string_view payload);
[[nodiscard]] Envelope sign(std::string payload, std::string type, const SigningKey& key);
[[nodiscard]] std::string render_envelope(const Envelope& envelope);
// Only the bytes that render_envelope() gives: no other order, space, member or base64. Error "attest.envelope",
// whose sentence begins with `what`.
[[nodiscard]] base::Result<Envelope> parse_envelope(std::string_view text,
                                                    std::string_view what = "A signed document");

}  // namespace wheelyard::attest
