// Limits of registry/http/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::http {

// Requests.
// pip sends under 1 KiB; tokens stay under 4 KiB.
inline constexpr std::size_t max_request_head_bytes = 16 * base::kib;

// Index, SHA-256 and a 255-byte name, all percent-encoded.
inline constexpr std::size_t max_target_bytes = 4 * base::kib;
inline constexpr std::size_t max_segment_bytes = 255;  // NAME_MAX of Linux file systems
// A JSON document with a reason or a list of names, never a file.
inline constexpr std::size_t max_api_body_bytes = 64 * base::kib;  // read before a request takes a slot
// Threads for requests that may ask a provider of identities; nothing else waits for them.
inline constexpr std::size_t provider_threads = 16;
inline constexpr std::size_t max_identity_body_bytes = 20 * base::kib;  // a token of 16 KiB, as JSON
inline constexpr std::size_t max_report_body_bytes = 256 * base::kib;   // of a site: lib/status/limits.hpp
inline constexpr std::size_t max_chunk_line_bytes = 1 * base::kib;      // extensions of one chunk
inline constexpr std::size_t max_trailer_bytes = 8 * base::kib;  // of a chunked body; read and discarded

// Below this, compression saves less than a packet.
inline constexpr std::size_t min_packed_bytes = 512;

// Files that are sent while they arrive. Sent after the last check only. Files below min_arriving_bytes are
// sent when they are complete: they take no time.
inline constexpr std::uint64_t held_back_bytes = 64 * base::kib;
inline constexpr std::uint64_t min_arriving_bytes = 1 * base::mib;
// Readers wake up after this many bytes, and after this time if there are fewer.
inline constexpr std::uint64_t arriving_step_bytes = 256 * base::kib;

}  // namespace wheelyard::http
