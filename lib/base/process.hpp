// Child processes: run one to its end with captured output, or start one that outlives us.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::base {

struct Command {
    std::vector<std::string> argv;                                       // argv[0] is looked up on PATH
    std::optional<std::map<std::string, std::string>> environment = {};  // nullopt: inherit
    std::filesystem::path directory = {};                                // empty: stay
    std::int64_t timeout_ms = 60'000;                                    // 0: none
    std::uint64_t output_limit_bytes = 4u << 20;  // of stdout and of stderr; the rest is dropped
    std::string input = {};                       // standard input, then end of file
};

struct Finished {
    int exit_code = 0;  // 128 + signal when killed by one; 127 when nobody can know it (SIGCHLD is ignored)
    bool timed_out = false;
    std::string out;
    std::string err;
};

// Runs to the end; the whole process group is killed at the timeout. Error only when the program cannot be
// started.
[[nodiscard]] Result<Finished> run_command(const Command& command);

// Starts `argv` in a session of its own with stdin from /dev/null and stdout+stderr appended to `log`;
// returns its pid. It is no child of ours (double fork), so nothing waits for it.
[[nodiscard]] Result<std::int64_t> start_detached(const Command& command, const std::filesystem::path& log);

// The environment of this process as a map.
[[nodiscard]] std::map<std::string, std::string> current_environment();
// The full path of `program` on PATH, or nullopt.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& program);

}  // namespace wheelyard::base
