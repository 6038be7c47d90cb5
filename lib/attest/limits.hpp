// Limits of the documents about signatures, which anybody may have written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::attest {

inline constexpr std::size_t max_key_bytes = 16UL * 1024;  // a PEM file
inline constexpr std::size_t max_signed_bytes =
    256UL * 1024;                             // an envelope, and a provenance with its statements
inline constexpr std::size_t max_depth = 16;  // of their JSON
// What was signed later than this after now shows that a clock is wrong, on which every end of validity
// depends.
inline constexpr std::int64_t max_clock_skew_us = 10LL * 60 * 1'000'000;

}  // namespace wheelyard::attest
