// Verifies what a registry signed about a wheel, or about a file for an auditor: the caller brings the bytes,
// the keys and the time.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/envelope.hpp"
#include "lib/attest/root.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/wheel_provenance.hpp"

namespace wheelyard::attest {

// Whose statements are believed: a key alone, which nobody can revoke, or the keys of a root. One key signs
// for all indexes of a registry.
struct Trust {
    std::optional<PublicKey> key;
    std::optional<Root> root;
    base::UnixMicros now = 0;
    std::vector<std::string> indexes =
        {};  // where the wheel may have been uploaded; empty: anywhere, with a warning
};

// Reads the root document and the public key (PEM); an empty path is none of it.
[[nodiscard]] base::Result<Trust> read_trust(const std::filesystem::path& root,
                                             const std::filesystem::path& key, base::UnixMicros now,
                                             std::vector<std::string> indexes);

// The text at the end of a path of members; empty: there is none.
[[nodiscard]] std::string text_in(const io::Json& json, std::initializer_list<std::string_view> path);

struct VerifiedWheel {
    std::string key_id;
    base::UnixMicros time = 0;  // of the signatures, as the registry says
    Statement provenance;       // what the agent said, and who the agent was
    Statement summary;          // what the registry proved
    std::vector<std::string> warnings;
};

// `filename` and `sha256` are of the wheel at hand, `text` is its provenance with the statements. Everything
// has to be right: both statements, their signatures, that they are about this wheel and of one upload to one
// of the indexes, and the agent's document. A wheel that was not accepted has a warning: it may have been
// released since. Errors: "attest.none" (no statements), "attest.other_wheel", "attest.unknown_key",
// "attest.signature", "attest.revoked", "attest.document", "attest.mixed", "attest.order", "attest.index",
// "attest.incomplete", and those of the parsers.
[[nodiscard]] base::Result<VerifiedWheel> verify_wheel(std::string_view filename, std::string_view sha256,
                                                       std::string_view text, const Trust& trust);

struct VerifiedExport {
    std::string key_id;
    base::UnixMicros time = 0;  // of the signature, as the registry says
    Statement statement;        // envelope.hpp
    std::vector<std::string> warnings;
};

// Verifies a file of `audit-export`: `text` is its statement. Errors: "attest.other_file",
// "attest.unknown_key", "attest.signature", "attest.revoked", and those of the parsers.
[[nodiscard]] base::Result<VerifiedExport> verify_export(std::string_view filename, std::string_view sha256,
                                                         std::string_view text, const Trust& trust);

}  // namespace wheelyard::attest
