// An entry of Rekor, version 1: the log's signed promise with a time, and the proof that the entry is in the
// log's tree.
//
//     {"logIndex":"146…","logId":{"keyId":"BASE64"},"kindVersion":{"kind":"dsse","version":"0.0.1"},"integratedTime":"173…",
//      "inclusionPromise":{"signedEntryTimestamp":"BASE64"},
//      "inclusionProof":{"logIndex":"24…","rootHash":"BASE64","treeSize":"24…","hashes":["BASE64",…],
//                        "checkpoint":{"envelope":"rekor.sigstore.dev - 119…\n24…\nBASE64\n\n— rekor.sigstore.dev BASE64\n"}},
//      "canonicalizedBody":"BASE64"}
//
// Entries of version 2 have neither promise nor time and other bodies: they are refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::sigstore {

struct LogEntry {
    std::string log_id;  // the SHA-256 of its key, raw
    std::int64_t index = 0;
    std::int64_t time_s = 0;  // since 1970
    std::string body;
    std::string promise;  // DER
    std::int64_t tree_index = 0;
    std::int64_t tree_size = 0;
    std::string tree_root;
    std::vector<std::string> path;  // hashes from the leaf's sibling upwards
    std::string checkpoint;
    [[nodiscard]] base::UnixMicros time() const { return time_s * 1'000'000; }
};

// What an entry has to be about.
struct Logged {
    std::string_view payload;
    std::string_view signature;
    std::string_view certificate_pem;
};

// Errors: "attestation.form", "attestation.rekor_v2".
[[nodiscard]] base::Result<LogEntry> read_log_entry(const io::Json& json);
// Errors: "attestation.unknown_log", "attestation.promise", "attestation.inclusion",
// "attestation.checkpoint".
[[nodiscard]] base::Status verify_log_entry(const LogEntry& entry, const TrustedRoot& root);
// Error "attestation.other_entry".
[[nodiscard]] base::Status check_logged(const LogEntry& entry, const Logged& logged);

// Base64 in its only form: unused bits are zero. Error "attestation.form".
[[nodiscard]] base::Result<std::string> strict_base64_at(const io::Json& json, std::string_view name);
// RFC 6962, 2.1.1: the root of a tree in which the leaf has this index and path; empty: the path does not
// fit.
[[nodiscard]] std::string tree_root_of(std::string_view leaf, std::int64_t index, std::int64_t size,
                                       const std::vector<std::string>& path);

}  // namespace wheelyard::sigstore
