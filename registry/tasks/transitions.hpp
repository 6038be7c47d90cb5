// The states of a task. Pure, no I/O.
//
//     awaits_approval ──approve──► queued      of a task with an uploaded source
//     queued ──claim──► claimed ──end──► done, failed
//        ▲                 │
//        └───lease ends────┘      after max_attempts claims: failed
//     awaits_approval, queued, claimed ──cancel──► cancelled; awaits_approval ──reject──► cancelled
#pragma once

#include <cstdint>

#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::tasks {

enum class TaskEvent { approve, reject, claim, renew, end_done, end_failed, lease_over, cancel };

// Number of claims so far, including the current one, and its limit.
struct Attempts {
    std::int64_t made = 0;
    std::int64_t most = 0;
};

// The next state. Errors: "task.not_queued", "task.not_claimed", "task.awaits_nothing", "task.ended".
[[nodiscard]] base::Result<wire::TaskState> next_state(wire::TaskState state, TaskEvent event,
                                                       const Attempts& attempts);

}  // namespace wheelyard::tasks
