// The memory of a compile: of the process that was started and all below it (nvcc → cicc, ptxas; g++ →
// cc1plus, as).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wheelyard::governor {

// Private resident bytes of `pid` and its descendants, and the largest shared part among them once: compilers
// of one tree map the same files. 0 when it is gone.
[[nodiscard]] double tree_bytes(pid_t pid);
// Processes of our user in the process group `group` (and of session `session`), for what a dead launcher
// left.
[[nodiscard]] std::vector<pid_t> members_of(pid_t group, pid_t session);

}  // namespace wheelyard::governor
