// What the registry signs about a wheel that an agent built: two statements, which are never mixed.
//
//   provenance  SLSA provenance v1: what the agent said about its build. The registry signs which token said it, and when
//   summary     urn:wheelyard:wheel-summary:1: what the registry proved from the bytes, and what its policy decided;
//               it names the provenance statement by its hash, so that no summary of another upload fits
//
// Both are the last member of the wheel's provenance, behind the agent's own document, so that one file has
// all:
//
//     {"format":"wheelyard.provenance/1",…,"statements":[ENVELOPE,ENVELOPE]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/envelope.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/wheel_provenance.hpp"

namespace wheelyard::attest {

inline constexpr std::string_view build_type = "urn:wheelyard:build:wheel:1";

// SLSA's build track. There is no third: a build job runs as its agent, so it could use the agent's token.
enum class Level { one = 1, two = 2 };
[[nodiscard]] std::string_view level_name(Level level);  // "SLSA_BUILD_LEVEL_1"

// A source as statements and bills of materials name it: "git+https://example.org/a.git@v1", "file:///sw/a",
// and the commit of a Git source; empty: unknown.
struct SourceUri {
    std::string uri;
    std::string commit;
};
[[nodiscard]] SourceUri uri_of(const wire::SourceFile& source);

// How the registry came to what it signs.
struct Received {
    std::string registry;  // URI of the registry that signs
    std::string index;
    // Who said what the provenance says: any token that may upload the project. Never its name, which is a
    // person's at times.
    std::string token_id;
    base::UnixMicros time = 0;
    Level level = Level::one;
};

// What the registry found out by itself.
struct Proved {
    std::string project;
    std::string version;
    std::string outcome;  // "accepted" or "quarantined"
    io::Json facts;       // as the catalog stores them, with `findings`; null: too many for a statement
};

[[nodiscard]] Statement provenance_statement(const wire::WheelProvenance& said, const Received& received);
// The summary has the SHA-256 of both: `document`, the agent's as it is stored, and `provenance`, the
// rendered statement.
[[nodiscard]] Statement summary_statement(const wire::WheelProvenance& said, std::string_view document,
                                          std::string_view provenance, const Proved& proved,
                                          const Received& received);

// `document` with both statements; facts that have no room are left out. Error "attest.too_large": the
// document is.
[[nodiscard]] base::Result<std::string> sign_wheel(std::string_view document,
                                                   const wire::WheelProvenance& said, const Proved& proved,
                                                   const Received& received, const SigningKey& key);

// A provenance as it is stored, in its parts.
struct SignedProvenance {
    std::string document;                 // the agent's
    std::vector<std::string> statements;  // envelopes; empty: the registry signed nothing
};
[[nodiscard]] std::string join_statements(const SignedProvenance& parts);
// Only the bytes that join_statements() gives. Error "attest.provenance".
[[nodiscard]] base::Result<SignedProvenance> split_statements(std::string_view text);

}  // namespace wheelyard::attest
