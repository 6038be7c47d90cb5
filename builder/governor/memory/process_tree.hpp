// Processes of a compile: the started process and its descendants (nvcc → cicc, ptxas; g++ → cc1plus, as);
// and the largest process of a build outside of them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace wheelyard::governor {

// The private resident bytes of `pid` and its descendants, plus the largest shared part once, because the
// compilers of one tree map the same files. 0 if the process is gone.
[[nodiscard]] double tree_bytes(pid_t pid);
// The process with the largest peak so far (VmHWM of proc(5)).
struct ProcessPeak {
    std::string name;
    double bytes = 0;
};
// The largest descendant of `root` outside the trees of `without`. Reads max_read_processes at most.
[[nodiscard]] ProcessPeak largest_process(pid_t root, const std::set<pid_t>& without);

// This user's processes in the process group `group` of session `session`; finds what a dead launcher left.
[[nodiscard]] std::vector<pid_t> members_of(pid_t group, pid_t session);

}  // namespace wheelyard::governor
