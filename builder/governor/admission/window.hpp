// How many compiles the build tool may keep waiting: enough for the broker to choose well, within the limits
// of file descriptors, processes and memory. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

// The waiting launchers may use at most 1/waiting_divisor of the limit.
inline constexpr std::uint64_t waiting_divisor = 20;
inline constexpr std::uint64_t waiting_launcher_bytes = 400 * kib;  // with the `sh -c` around it
inline constexpr std::uint64_t processes_per_waiting = 2;           // `sh -c` and the launcher
inline constexpr std::uint64_t processes_per_running = 6;           // also driver, front end, assembler …

// How many waiting compiles the broker chooses from. With 1.5 GiB per core or more, 32 per core come within
// 0.5 % of an unlimited choice in simulated builds; with less memory, a larger choice packs better. More
// would slow the build tool, which polls a pipe per child.
inline constexpr unsigned window_per_core = 32;
inline constexpr unsigned roomy_window = 64;    // minimum
inline constexpr unsigned tight_window = 1024;  // minimum with less than roomy_bytes_per_core
inline constexpr double roomy_bytes_per_core = 2.0 * gib;
inline constexpr unsigned max_window = 4096;
inline constexpr unsigned min_window = 2;

struct WindowFacts {
    unsigned cores = 1;
    double limit_bytes = 0;
    std::uint64_t open_files = 1024;              // hard RLIMIT_NOFILE
    std::optional<std::uint64_t> user_processes;  // RLIMIT_NPROC
    std::optional<std::uint64_t> free_pids;       // cgroup pids.max less pids.current
};

[[nodiscard]] unsigned choose_window(const WindowFacts& facts);

}  // namespace wheelyard::governor
