// Limits of attestations and trusted roots, which anybody may have written. Real attestations have 5 to 11 kB.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::sigstore {

inline constexpr std::size_t max_field_bytes = 128 * base::kib;  // all attestations of a file
inline constexpr std::size_t max_attestations = 2;               // one of each predicate type (PEP 740)
inline constexpr std::size_t max_root_bytes = 256 * base::kib;   // the public one has 7 kB
inline constexpr std::size_t max_depth = 16;                     // of JSON
inline constexpr std::size_t max_document_bytes =
    2 * max_field_bytes;  // a provenance object: with publishers
inline constexpr std::size_t max_document_depth = max_depth + 4;
inline constexpr std::size_t max_certificate_bytes = 16 * base::kib;
inline constexpr std::size_t max_authorities = 16;  // of a root, and certificates of their chains
inline constexpr std::size_t max_logs = 64;
inline constexpr std::size_t max_path =
    63;  // hashes of an inclusion proof: a log has fewer than 2^63 entries
inline constexpr std::size_t max_checkpoint_signatures = 16;  // of the log, and of witnesses
inline constexpr std::size_t max_identity_bytes = 1'024;      // of one claim of a certificate
inline constexpr std::int64_t max_time_s = 4'000'000'000;     // the year 2096

}  // namespace wheelyard::sigstore
