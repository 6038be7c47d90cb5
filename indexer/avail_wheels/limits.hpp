// How much avail_wheels reads and fetches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

// Pages that one glob may fetch, one after the other: a farm's index has hundreds of names, a public one
// 700,000.
inline constexpr std::size_t max_pages = 5'000;
inline constexpr std::uint64_t max_requirements_bytes = 4 * base::mib;
inline constexpr std::size_t max_requirements = 20'000;
inline constexpr int deepest_requirements_nesting = 16;  // files that name files by -r
inline constexpr std::uint64_t max_pyvenv_bytes = 64 * base::kib;
inline constexpr int deepest_wheelhouse_folder =
    5;  // below the wheelhouse: the Alliance's has wheels at 2, a published tree at 4
inline constexpr std::size_t max_wheelhouse_files = 2'000'000;
inline constexpr int newest_python_minor = 99;
inline constexpr std::size_t max_dotted_numbers = 6;             // drivers have three
inline constexpr std::uint64_t max_proc_bytes = 8 * base::mib;   // /proc/cpuinfo of 1,000 processors: 2 MiB
inline constexpr std::uint64_t max_libc_bytes = 16 * base::mib;  // with its symbols
inline constexpr std::int64_t probe_timeout_ms = 20'000;         // a GPU that sleeps takes seconds to answer
inline constexpr std::int64_t node_cache_s = 24 * 3600;          // a node's driver is renewed with a reboot
inline constexpr std::uint64_t max_node_bytes = 256 * base::kib;
inline constexpr std::int64_t catalogue_fresh_s = 60;              // within which an index is not asked again
inline constexpr std::uint64_t max_status_bytes = 64 * base::mib;  // a plan: 200 bytes a cell
inline constexpr std::size_t max_metadata_read = 20'000;           // of files in a folder: a second or two
inline constexpr std::size_t max_requests_of_one = 20;
inline constexpr const char* site_of_the_machine = "/etc/wheelyard/avail_wheels.toml";
inline constexpr std::uint64_t max_catalogue_state_bytes = 64 * base::kib;

}  // namespace wheelyard::avail_wheels
