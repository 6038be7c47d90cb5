// Runs one try of a compile as a child process: process group, memory cgroup, output.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "builder/governor/launch/spool.hpp"

namespace wheelyard::governor {

// Starts `command` (argv[0] is searched on PATH) in its own process group; -1 if fork fails. The child is
// killed when this process dies, is the OOM killer's preferred victim, writes into the spool, and joins the
// cgroup whose cgroup.procs is `group` ("": stays in ours).
[[nodiscard]] pid_t start_compiler(const std::vector<std::string>& command, const Spool& spool,
                                   const std::string& group);

// Whether the output or the status of a failed try indicates that it ran out of memory.
[[nodiscard]] bool looks_killed_by_memory(int wait_status, std::string_view output);

// Whether this process inherited an ignored `signal_number`, as nohup(1) does with SIGHUP.
[[nodiscard]] bool is_ignored(int signal_number);

// Replaces this process by `command` (argv[0] is searched on PATH). On failure, prints why and exits with 127
// or 126, as a shell does.
[[noreturn]] void become(const std::vector<std::string>& command);

// Ends this process with the same exit code or signal as `wait_status`.
[[noreturn]] void exit_like(int wait_status);

}  // namespace wheelyard::governor
