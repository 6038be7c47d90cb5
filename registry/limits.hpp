// What the registry takes from strangers at most, with reasons. Limits of the HTTP layer stand beside its
// code.
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
inline constexpr std::size_t max_around_parts_bytes =
    16 * base::kib;  // preamble, epilogue, padding: real clients send none
inline constexpr std::uint64_t max_other_file_bytes =
    base::mib;  // gpg_signature and the like: read and dropped
// What a body may hold beside the file: all of the above, and the headers of its parts.
inline constexpr std::uint64_t max_form_overhead_bytes =
    max_all_fields_bytes + max_other_file_bytes + 2 * base::mib;

// NAME_MAX (255 bytes) less ".metadata": the published tree puts that behind a file's name (PEP 658), and a
// row whose page cannot be written would hold up every later one.
inline constexpr std::size_t max_wheel_filename_bytes = 246;

// Verdicts told to a client: enough to mend a wheel by, few enough for a terminal.
inline constexpr std::size_t max_verdicts_reported = 10;

// Events in one answer of the audit log.
inline constexpr std::size_t max_events_returned = 1'000;

// Commits that wait for the writer thread; each belongs to an upload in progress, so more than the upload
// threads never queue up.
inline constexpr std::size_t max_queued_writes = 256;
inline constexpr std::size_t max_rows_of_a_commit = 64;  // a group commit stays some ms of work

// Root pages that come behind the answer (late_roots.hpp).
inline constexpr std::int64_t root_delay_ms = 1'000;  // uploads of one burst share one
inline constexpr int root_rest_factor = 10;           // so long as one took: they take a tenth of the time
inline constexpr std::int64_t max_root_rest_ms = 60'000;  // however long one takes, and between failures

// Below this much room the registry says that it is not ready: SQLite, pages and a small wheel still fit.
inline constexpr std::uint64_t min_free_bytes = 64 * base::mib;

// Resumable uploads: forms on their way, kept on disk across restarts. They take disk that nothing else
// counts.
inline constexpr std::size_t max_resumable_uploads = 64;
inline constexpr std::size_t max_resumable_uploads_of_a_token = 16;  // no token keeps all others out
inline constexpr std::int64_t resumable_lifetime_s = 3 * 24 * 3600;  // since its last byte: a weekend
inline constexpr std::size_t resumable_piece_bytes = base::mib;      // read back at once
inline constexpr std::uint64_t max_resumable_note_bytes = 16 * base::kib;

// File descriptors (descriptors.hpp).
inline constexpr std::uint64_t descriptors_by_custom = 1024;       // the usual soft limit
inline constexpr std::uint64_t max_descriptors_asked = 1'048'576;  // fs.nr_open's default: more is refused
inline constexpr std::uint64_t descriptors_of_the_program =
    128;  // 64 refused connections; SQLite, epoll, pages, log
inline constexpr std::uint64_t descriptors_of_an_upload = 8;  // staging, METADATA, readers, folders synced
inline constexpr std::uint64_t descriptors_of_an_io_thread =
    5;  // Asio's three, the tree, a page that is read
// Of what is left, for connections at most; the rest is for the files that some of them are sent. Most
// clients are quiet, or ask for pages, which are kept in memory.
inline constexpr std::uint64_t connections_of_four_descriptors = 3;

// The configuration's bounds.
inline constexpr std::int64_t default_max_file_mib = 8192;  // torch with every architecture is under 4 GiB
inline constexpr std::int64_t max_file_mib_limit = 1024 * 1024;
inline constexpr std::size_t max_index_name = 64;

inline constexpr std::int64_t max_lease_s = 7 * 24 * 3600;  // of a task: longer, and a dead agent holds it
inline constexpr std::int64_t max_task_attempts = 10;       // claims of one task
inline constexpr std::int64_t max_kept_days = 36'500;       // after its end: a century, "for ever"

// Tokens.
inline constexpr std::size_t token_secret_bytes = 32;  // 256 bit: a plain hash of it is enough at rest
inline constexpr std::size_t token_id_bytes = 6;       // public; unique among a site's few hundred
inline constexpr std::size_t max_authorization_bytes = 4 * base::kib;
inline constexpr std::size_t max_token_name = 120;

}  // namespace wheelyard::registry
