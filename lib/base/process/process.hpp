// Child processes: run one to completion and capture its output, or start one that outlives this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::base {

struct Command {
    std::vector<std::string> argv;                                       // argv[0] is looked up on PATH
    std::optional<std::map<std::string, std::string>> environment = {};  // nullopt: inherit
    std::filesystem::path directory = {};                                // empty: the current one
    std::int64_t timeout_ms = 60'000;                                    // 0: none
    std::uint64_t output_limit_bytes = 4u << 20;  // for stdout and stderr each; the rest is discarded
    std::string input = {};                       // standard input, then end of file
    // Takes stdout while it arrives, in place of Finished::out. False: the command is killed.
    std::function<bool(std::string_view piece)> take_output = {};
};

struct Finished {
    int exit_code = 0;  // 128 + signal if a signal killed it; 127 if the status is lost (SIGCHLD is ignored)
    bool timed_out = false;
    std::string out;
    std::string err;
};

// Runs a command to completion. The timeout kills its whole process group. Returns an error only if the
// program cannot be started.
[[nodiscard]] Result<Finished> run_command(const Command& command);

[[nodiscard]] std::map<std::string, std::string> current_environment();
// The full path of `program` on PATH, or nullopt.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& program);

// Starts a program that outlives this process, under a reaper that ends what the program leaves behind.
//
//     this process ─► reaper (a session of its own; adopts orphans, prctl(2) PR_SET_CHILD_SUBREAPER)
//                        └─► the program (a session of its own)
//
// When the program has ended, the reaper kills its remaining descendants, daemons included, and ends. Slurm
// and PBS do the same for their jobs. Starts `argv` with stdin from /dev/null and stdout and stderr appended
// to `log`. Returns the program's pid, which is also its session. It is not our child: the reaper reaps it.
[[nodiscard]] Result<std::int64_t> start_reaped(const Command& command, const std::filesystem::path& log);

}  // namespace wheelyard::base
