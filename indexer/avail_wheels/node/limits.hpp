// Limits of indexer/avail_wheels/node/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::avail_wheels {

inline constexpr std::uint64_t max_pyvenv_bytes = 64 * base::kib;
inline constexpr std::uint64_t max_script_bytes = 64 * base::kib;  // of pip: 300 bytes
inline constexpr int max_python_minor = 99;

// /proc/cpuinfo of 1,000 processors: 2 MiB.
inline constexpr std::uint64_t max_proc_bytes = 8 * base::mib;
inline constexpr std::uint64_t max_libc_bytes = 16 * base::mib;  // includes its symbols
inline constexpr std::uint64_t max_library_bytes =
    64 * base::mib;  // libstdc++.so.6 with debug sections: 20 MiB
inline constexpr std::size_t max_libraries_asked =
    20'000;  // a whole index needs hundreds, a hostile wheel thousands
inline constexpr std::size_t max_functions_asked = 3'000;  // PyPy 7.3.19 has 910; execve(2) takes 2 MiB
inline constexpr std::size_t max_preload_bytes = 100'000;  // execve(2): MAX_ARG_STRLEN, 128 KiB a variable
inline constexpr std::size_t max_loader_runs = 200;       // each 10 ms; 10 broken libraries of 2,000 take 200
inline constexpr std::int64_t probe_timeout_ms = 20'000;  // a GPU in power saving needs seconds to answer
inline constexpr std::int64_t python_timeout_ms = 10'000;  // a cold start on a busy parallel file system
inline constexpr std::size_t max_module_folders = 200;     // .pth files may name many
inline constexpr std::int64_t node_cache_s = 24 * 3600;    // a driver update requires a reboot
inline constexpr std::uint64_t max_node_bytes = 256 * base::kib;
inline constexpr std::uint64_t max_library_cache_bytes = 16 * base::mib;  // of 20,000 names

}  // namespace wheelyard::avail_wheels
