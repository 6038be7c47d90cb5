// Starts a program that outlives this process, under a reaper that ends what the program leaves behind.
//
//     this process ─► reaper (a session of its own; adopts orphans, prctl(2) PR_SET_CHILD_SUBREAPER)
//                        └─► the program (a session of its own)
//
// When the program has ended, the reaper kills its remaining descendants, daemons included, and ends. Slurm and PBS do
// the same for their jobs.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lib/base/process/process.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

// Starts `argv` with stdin from /dev/null and stdout and stderr appended to `log`. Returns the program's pid, which is
// also its session. It is not our child: the reaper reaps it.
[[nodiscard]] Result<std::int64_t> start_reaped(const Command& command, const std::filesystem::path& log);

}  // namespace wheelyard::base
