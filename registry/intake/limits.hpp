// Limits of registry/intake/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

// multipart/form-data. twine sends a wheel's whole METADATA as fields: descriptions with inlined images reach
// 1 MiB, and one field per classifier and requirement.
inline constexpr std::size_t max_boundary = 70;                      // RFC 2046 §5.1.1
inline constexpr std::size_t max_part_header_bytes = 8 * base::kib;  // all header lines of one part
inline constexpr std::size_t max_field_bytes = 4 * base::mib;
inline constexpr std::size_t max_all_fields_bytes = 8 * base::mib;
inline constexpr std::size_t max_parts = 5'000;

// Preamble, epilogue, padding: real clients send none.
inline constexpr std::size_t max_around_parts_bytes = 16 * base::kib;

// Gpg_signature and the like: read and dropped.
inline constexpr std::uint64_t max_other_file_bytes = base::mib;

// What a body may hold beside the file: all of the above, and the headers of its parts.
inline constexpr std::uint64_t max_form_overhead_bytes =
    max_all_fields_bytes + max_other_file_bytes + 2 * base::mib;

// NAME_MAX (255 bytes) less ".metadata": the published tree puts that behind a file's name (PEP 658), and a
// row whose page cannot be written would hold up every later one.
inline constexpr std::size_t max_wheel_filename_bytes = 246;

// Verdicts told to a client: enough to mend a wheel by, few enough for a terminal.
inline constexpr std::size_t max_verdicts_reported = 10;

// Resumable uploads: forms on their way, kept on disk across restarts. They take disk that nothing else
// counts.
inline constexpr std::size_t max_resumable_uploads = 64;
inline constexpr std::size_t max_resumable_uploads_of_a_token = 16;  // no token keeps all others out
inline constexpr std::int64_t resumable_lifetime_s = 3 * 24 * 3600;  // since its last byte: a weekend
inline constexpr std::size_t resumable_piece_bytes = base::mib;      // read back at once
inline constexpr std::uint64_t max_resumable_note_bytes = 16 * base::kib;

}  // namespace wheelyard::registry
