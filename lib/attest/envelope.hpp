// DSSE envelopes (Dead Simple Signing Envelope, version 1): a payload, its type, and signatures over both.
//
//     {"payload":"BASE64","payloadType":"application/vnd.in-toto+json",
//      "signatures":[{"keyid":"SHA-256 of the DER public key","sig":"BASE64 of the DER signature"}]}
//
// What is signed is the pre-authentication encoding, so a document of one type is never taken for one of
// another:
//     DSSEv1 LENGTH TYPE LENGTH PAYLOAD
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/keys.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

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
// Only the bytes that render_envelope() gives: no other order, space, member or base64. Error
// "attest.envelope", whose sentence begins with `what`.
[[nodiscard]] base::Result<Envelope> parse_envelope(std::string_view text,
                                                    std::string_view what = "A signed document");

// in-toto statements (version 1): which file, by its name and SHA-256, and what is said about it.
//
//     {"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"a.whl","digest":{"sha256":"…"}}],
//      "predicateType":"https://slsa.dev/provenance/v1","predicate":{…}}

inline constexpr std::string_view statement_type = "application/vnd.in-toto+json";  // in its envelope
inline constexpr std::string_view provenance_predicate = "https://slsa.dev/provenance/v1";
// A predicate of our own: a SLSA verification summary has no place for facts, and its parser refuses other
// members.
inline constexpr std::string_view summary_predicate = "urn:wheelyard:wheel-summary:1";
// The predicate about a file that an auditor gets.
inline constexpr std::string_view export_predicate = "urn:wheelyard:export:1";

struct Statement {
    std::string filename;
    std::string sha256;
    std::string predicate_type;
    io::Json predicate;
};

[[nodiscard]] std::string render_statement(const Statement& statement);
// One subject with a SHA-256, and only the bytes that render_statement() gives. Error "attest.statement".
[[nodiscard]] base::Result<Statement> parse_statement(std::string_view text);

// What the registry signs about a file that `audit-export` writes for an auditor.
//
//     {"registry":{"id":"https://wheels.example","version":{"wheelyard-registry":"0.1.0"}},"time":"2026-11-27T09:00:00.000000Z",
//      "serial":120,"records":120,"head":"SHA-256 of the last line"}

struct ExportedFile {
    std::string filename;
    std::string sha256;
    std::uint64_t records = 0;  // lines
    std::string head = {};      // of a file whose lines are a chain; empty: they are none
};

// What all files of one export share.
struct Export {
    std::string registry;  // URI of the registry that signs
    base::UnixMicros time = 0;
    std::int64_t serial = 0;  // of the last event
};

inline constexpr std::string_view export_statement_suffix = ".statement";  // after the name of the file

// The envelope with the statement.
[[nodiscard]] std::string sign_export(const ExportedFile& file, const Export& of, const SigningKey& key);

}  // namespace wheelyard::attest
