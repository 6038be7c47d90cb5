// How many compiles the build tool may have waiting at once: enough for the cores that the broker chooses
// well, as far as descriptors, processes and memory allow. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace wheelyard::governor {

struct WindowFacts {
    unsigned cores = 1;
    double limit_bytes = 0;
    std::uint64_t open_files = 1024;              // RLIMIT_NOFILE, hard
    std::optional<std::uint64_t> user_processes;  // RLIMIT_NPROC
    std::optional<std::uint64_t> free_pids;       // cgroup pids.max less what is there
};

[[nodiscard]] unsigned choose_window(const WindowFacts& facts);

}  // namespace wheelyard::governor
