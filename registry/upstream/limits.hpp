// Limits of registry/upstream/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

// Freshness of pages. An upstream without Cache-Control gets the usual value of the public index; `no-cache`
// still permits one request per interval, which the minimum is.
inline constexpr std::int64_t default_fresh_s = 600;
inline constexpr std::int64_t min_fresh_s = 10;
inline constexpr std::int64_t max_fresh_s = 24 * 3600;
inline constexpr std::int64_t absent_fresh_s = 300;  // 404: nobody installs it, so nobody waits for it

inline constexpr std::int64_t max_retry_after_s = 3600;
// Beginnings of files whose download was given up.
inline constexpr std::int64_t cut_download_kept_s = 3'600;
inline constexpr std::size_t max_cut_downloads = 32;
inline constexpr std::uint64_t max_cut_download_bytes = 8 * base::gib;

inline constexpr std::uint64_t max_metadata_bytes = 16 * base::mib;

// Concurrency: threads start when they are needed, and most of the time they wait for bytes. Pages do not
// wait behind files, and small files not behind large ones. Inspections need the processor and memory.
inline constexpr unsigned page_threads = 16;
inline constexpr unsigned file_threads = 96;              // for small files, and as many for large ones
inline constexpr std::ptrdiff_t inspections_at_once = 4;  // of small files, and as many of large ones

// Memory and cache files.
inline constexpr std::uint64_t max_heads_bytes = 16 * base::mib;     // of pages: some 20,000
inline constexpr std::uint64_t max_pages_bytes = 32 * base::mib;     // with their files
inline constexpr std::uint64_t max_rendered_bytes = 96 * base::mib;  // what is served
inline constexpr std::uint64_t max_page_file_bytes = 256 * base::mib;
inline constexpr std::size_t max_failures_kept = 50;   // in the file of an upstream
inline constexpr std::size_t max_project_bytes = 128;  // of a project's name: it becomes a file's name

}  // namespace wheelyard::registry
