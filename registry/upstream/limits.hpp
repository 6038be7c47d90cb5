// Limits of registry/upstream/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

// Freshness of pages. An upstream without Cache-Control gets the usual value of the public index; `no-cache` still
// permits one request per interval, which the minimum is.
inline constexpr std::int64_t default_fresh_s = 600;
inline constexpr std::int64_t min_fresh_s = 10;
inline constexpr std::int64_t max_fresh_s = 24 * 3600;
inline constexpr std::int64_t absent_fresh_s = 300;  // 404: nobody installs it, so nobody waits for it
inline constexpr std::int64_t stale_while_revalidate_s =
    3600;  // served at once, and fetched again behind that

// Pauses after failures, of one page and of a whole upstream.
inline constexpr std::int64_t page_retry_s = 10;
inline constexpr std::int64_t min_backoff_s = 1;
inline constexpr std::int64_t max_backoff_s = 60;
inline constexpr std::int64_t default_retry_after_s = 60;  // of a 429 without Retry-After
inline constexpr std::int64_t max_retry_after_s = 3600;
inline constexpr std::int64_t file_retry_s = 10;
inline constexpr std::int64_t refused_file_retry_s = 600;  // wrong bytes will be wrong again
inline constexpr int max_tries = 3;  // of one download in a row that bring less than `min_progress_bytes`
inline constexpr std::uint64_t min_progress_bytes = 64 * base::kib;
// Beginnings of files whose download was given up.
inline constexpr std::int64_t cut_download_kept_s = 3'600;
inline constexpr std::size_t max_cut_downloads = 32;
inline constexpr std::uint64_t max_cut_download_bytes = 8 * base::gib;

// Requests to upstreams.
inline constexpr int max_redirects = 5;
inline constexpr std::size_t max_via_bytes =
    512;  // a request through more registries than that goes in a circle
inline constexpr std::int64_t page_timeout_ms = 60'000;
inline constexpr std::int64_t connect_timeout_ms = 10'000;
inline constexpr std::int64_t file_stall_timeout_ms =
    30'000;                                           // before the first byte: it may fetch the file itself
inline constexpr std::int64_t idle_body_ms = 10'000;  // between bytes
inline constexpr std::int64_t min_file_bytes_per_s = 1'024;
inline constexpr std::uint64_t max_metadata_bytes = 16 * base::mib;
inline constexpr std::size_t max_password_bytes = 4'096;

// Concurrency: threads start when they are needed, and most of the time they wait for bytes. Pages do not wait behind
// files, and small files not behind large ones. Inspections need the processor and memory.
inline constexpr unsigned page_threads = 16;
// A page of 64 MiB takes 400 MiB while it is read, and as much while it is rendered: of larger ones than these, one at a time.
inline constexpr std::uint64_t large_page_bytes = 8 * base::mib;
inline constexpr std::size_t large_page_files = 20'000;
inline constexpr unsigned file_threads = 96;  // for small files, and as many for large ones
inline constexpr std::uint64_t small_file_bytes = 8 * base::mib;
inline constexpr std::ptrdiff_t inspections_at_once = 4;  // of small files, and as many of large ones
inline constexpr std::size_t max_idle_clients = 8;        // of one upstream, with their connections
inline constexpr std::size_t max_waiting_work = 1'024;
inline constexpr std::uint64_t room_check_bytes = 16 * base::mib;  // free space is checked this often

// Memory and cache files.
inline constexpr std::uint64_t max_heads_bytes = 16 * base::mib;     // of pages: some 20,000
inline constexpr std::uint64_t max_pages_bytes = 32 * base::mib;     // with their files
inline constexpr std::uint64_t max_rendered_bytes = 96 * base::mib;  // what is served
inline constexpr std::uint64_t trim_after_bytes = 32 * base::mib;  // dropped: give memory back to the system
inline constexpr std::uint64_t max_page_file_bytes = 256 * base::mib;
inline constexpr std::size_t max_failures = 10'000;
inline constexpr std::size_t max_verified = 10'000;   // documents of attestations, of 200 bytes each
inline constexpr std::size_t max_failures_kept = 50;  // in the file of an upstream
inline constexpr std::int64_t same_trouble_s =
    24 * 3600;  // between two failures of a project: the count of later ones begins at one
inline constexpr std::uint64_t max_failures_file_bytes = 1 * base::mib;
inline constexpr std::size_t max_gone_files = 100'000;  // hashes of files that left a page
inline constexpr std::size_t max_project_bytes = 128;   // of a project's name: it becomes a file's name

// The limit of a cache. Bytes of the last hour may belong to an upload in progress, so their blobs could not be removed
// (lifecycle::min_grace_ms), and a client that waited for a file has it by then.
inline constexpr std::int64_t min_cached_s = 3'600;
inline constexpr std::int64_t last_used_kept_days = 400;  // later, the day of the fetch counts
inline constexpr std::uint64_t max_last_used_bytes = 256 * base::mib;

}  // namespace wheelyard::registry
