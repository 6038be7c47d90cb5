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

// As start_detached (process.hpp): returns the program's pid, which is also its session.
[[nodiscard]] Result<std::int64_t> start_reaped(const Command& command, const std::filesystem::path& log);

}  // namespace wheelyard::base
