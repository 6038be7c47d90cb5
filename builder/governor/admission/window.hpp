// How many compiles the build tool may keep waiting: enough for the broker to choose well, within the limits
// of file descriptors, processes and memory. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace wheelyard::governor {

struct WindowFacts {
    unsigned cores = 1;
    double limit_bytes = 0;
    std::uint64_t open_files = 1024;              // hard RLIMIT_NOFILE
    std::optional<std::uint64_t> user_processes;  // RLIMIT_NPROC
    std::optional<std::uint64_t> free_pids;       // cgroup pids.max less pids.current
};

[[nodiscard]] unsigned choose_window(const WindowFacts& facts);

}  // namespace wheelyard::governor
