// Limits of attestations and trusted roots, which anybody may have written. Real attestations have 5 to 11
// kB.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::sigstore {

inline constexpr std::size_t max_field_bytes = 128 * base::kib;  // all attestations of a file
inline constexpr std::size_t max_root_bytes = 256 * base::kib;   // the public one has 7 kB
inline constexpr std::size_t max_depth = 16;                     // of JSON
inline constexpr std::size_t max_document_bytes =
    2 * max_field_bytes;                                   // a provenance object: with publishers
inline constexpr std::int64_t max_time_s = 4'000'000'000;  // the year 2096

}  // namespace wheelyard::sigstore
