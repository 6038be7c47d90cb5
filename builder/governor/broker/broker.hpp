// The broker: one process, one thread, that owns the sockets, the samples and the clock around a Dispatch. It
// starts nothing itself; every compile is its launcher's child.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "builder/governor/memory/compile_groups.hpp"
#include "builder/governor/memory/memory_limit.hpp"
#include "lib/base/fd.hpp"

namespace wheelyard::governor {

struct BrokerPlan {
    std::filesystem::path history;  // empty: none
    std::filesystem::path json, trace, svg;
    std::uint64_t setting_bytes = 0;  // --memory
    std::uint64_t pbs_bytes = 0;      // of ask_pbs()
    unsigned cores = 0;               // 0: found
    std::int64_t progress_s = 30;     // 0: none
    bool quiet = false;
};

// Serves until `control` reaches its end (the build is over, or who started us died), then writes history,
// summary, JSON and trace. Returns the exit status of the broker's process.
// `groups` is for the compiles, usable or not.
int run_broker(const BrokerPlan& plan, base::Fd listening, base::Fd control, CompileGroups& groups);

}  // namespace wheelyard::governor
