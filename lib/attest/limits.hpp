// Limits of the documents about signatures, which anybody may have written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::attest {

inline constexpr std::size_t max_key_bytes = 16UL * 1024;  // a PEM file
inline constexpr std::size_t max_signed_bytes =
    256UL * 1024;                             // an envelope, and a provenance with its statements
inline constexpr std::size_t max_depth = 16;  // of their JSON
// One of 256 lists: some 20 million projects in an index.
inline constexpr std::size_t max_page_list_bytes = 16UL * 1024 * 1024;
// A publish run shows a page before it signs it. A reader that finds another page than the signed one waits this often, and
// reads again, before it reports a change.
inline constexpr int max_publish_waits = 3;
inline constexpr std::int64_t publish_wait_ms = 2000;
// What was signed later than this after now shows that a clock is wrong, on which every end of validity depends.
inline constexpr std::int64_t max_clock_skew_us = 10LL * 60 * 1'000'000;

}  // namespace wheelyard::attest
