// in-toto statements (version 1): which file, by its name and SHA-256, and what is said about it.
//
//     {"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"a.whl","digest":{"sha256":"…"}}],
//      "predicateType":"https://slsa.dev/provenance/v1","predicate":{…}}
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::attest {

inline constexpr std::string_view statement_type = "application/vnd.in-toto+json";  // in its envelope
inline constexpr std::string_view provenance_predicate = "https://slsa.dev/provenance/v1";
// A predicate of our own: a SLSA verification summary has no place for facts, and its parser refuses other members.
inline constexpr std::string_view summary_predicate = "urn:wheelyard:wheel-summary:1";
// About a file that an auditor gets (export_statement.hpp).
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

}  // namespace wheelyard::attest
