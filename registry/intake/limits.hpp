// Limits of registry/intake/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

// multipart/form-data. twine sends all of a wheel's METADATA as fields: descriptions with inlined images
// reach 1 MiB, and each classifier and requirement is a field.
inline constexpr std::size_t max_boundary = 70;                      // RFC 2046 §5.1.1
inline constexpr std::size_t max_part_header_bytes = 8 * base::kib;  // all header lines of one part
inline constexpr std::size_t max_field_bytes = 4 * base::mib;
inline constexpr std::size_t max_all_fields_bytes = 8 * base::mib;
inline constexpr std::size_t max_parts = 5'000;

// Preamble, epilogue, padding: real clients send none.
inline constexpr std::size_t max_around_parts_bytes = 16 * base::kib;

// Other files, such as gpg_signature: read and discarded.
inline constexpr std::uint64_t max_other_file_bytes = base::mib;

// For the headers of all parts; those of real clients are much smaller.
inline constexpr std::uint64_t part_headers_allowance_bytes = 2 * base::mib;

// Maximum size of a body without the file.
inline constexpr std::uint64_t max_form_overhead_bytes =
    max_all_fields_bytes + max_other_file_bytes + part_headers_allowance_bytes;

// Verdicts sent to a client: enough to fix a wheel, few enough for a terminal.
inline constexpr std::size_t max_verdicts_reported = 10;

// Resumable uploads: incomplete forms that stay on disk across restarts. No other limit counts this disk
// space.
inline constexpr std::size_t max_resumable_uploads = 64;
inline constexpr std::size_t max_resumable_uploads_of_a_token = 16;  // no token can block all others
inline constexpr std::int64_t resumable_lifetime_s =
    3 * 24 * 3600;                                               // since its last byte; survives a weekend
inline constexpr std::size_t resumable_piece_bytes = base::mib;  // size of one read
inline constexpr std::uint64_t max_resumable_note_bytes = 16 * base::kib;

}  // namespace wheelyard::registry
