// Child processes: run one to completion and capture its output, or start one that outlives this process.
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
    std::filesystem::path directory = {};                                // empty: the current one
    std::int64_t timeout_ms = 60'000;                                    // 0: none
    std::uint64_t output_limit_bytes = 4u << 20;  // for stdout and stderr each; the rest is discarded
    std::string input = {};                       // standard input, then end of file
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

}  // namespace wheelyard::base
