// Runs a command within limits, to its end and that of every process that it started.
//
//     bound (adopts every orphan, prctl(2) PR_SET_CHILD_SUBREAPER) ─► bwrap ─► the build
//        └ ten times a second: processes, memory; once a second: disk, deleted files, what holds the output
//
// It passes the command's output on, so no process that outlives the command keeps what reads it waiting. Samples see what
// exceeds a limit; between them the kernel's own limits hold: RLIMIT_NPROC, RLIMIT_FSIZE, RLIMIT_NOFILE, and its choice
// when memory is short (oom_score_adj). What no process shows is seen by what is left of the machine's memory and disk. Where a cgroup confines the job, it does so as well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace wheelyard::governor {

inline constexpr std::uint64_t max_descriptors = 4'096;  // of a process: a sample of open files reads each

struct Bounds {                   // 0: no limit
    std::uint64_t processes = 0;  // and threads
    std::uint64_t memory_bytes = 0;
    std::uint64_t machine_keeps_bytes = 0;  // with memory_bytes; 0: a share of what it has at the start
    std::uint64_t disk_bytes = 0;
    std::filesystem::path folder = {};  // what it writes; with disk_bytes
    std::int64_t seconds = 0;
    std::int64_t idle_seconds = 0;  // without output, and with less than a second of CPU
    // How long a process reads a pipe that only what was left behind can write, before that is ended.
    std::int64_t left_behind_s = 10;
};

// The exit status of `bound` when it ended the command because of a limit.
inline constexpr int over_limit_exit_code = 122;
// Begins the line that says so. The agent knows both (builder/attempt/job_files.hpp).
inline constexpr const char* over_limit_line = "wheelyard-governor: the build was ended:";

// Returns the command's exit status, 128 + N after signal N, 127 if it cannot be started. SIGTERM, SIGINT and SIGHUP end
// everything.
[[nodiscard]] int run_bounded(const Bounds& bounds, const std::vector<std::string>& command);

}  // namespace wheelyard::governor
