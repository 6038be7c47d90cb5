// The broker: a process with one thread that owns the launchers' sockets, memory samples and timers. It
// starts no process; every compile is a child of its launcher.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "builder/governor/launch/coverage.hpp"
#include "builder/governor/memory/compile_groups.hpp"
#include "builder/governor/memory/memory_limit.hpp"
#include "lib/base/files/fd.hpp"

namespace wheelyard::governor {

struct BrokerPlan {
    std::filesystem::path history;  // empty: none
    std::filesystem::path json, trace;
    std::uint64_t setting_bytes = 0;  // --memory
    std::vector<JobLimit> job_limits;
    unsigned cores = 0;            // 0: detected
    std::int64_t progress_s = 30;  // 0: none
    bool quiet = false;
    Coverage coverage;
};

// Serves launchers until end of file on `control`, which means that the build ended or the parent died. Then
// writes history, summary and the requested files. Returns the exit status of the broker's process. `groups`
// need not be usable.
int run_broker(const BrokerPlan& plan, base::Fd listening, base::Fd control, CompileGroups& groups);

}  // namespace wheelyard::governor
