// The life of a task. Knowledge only.
//
//     queued ──claim──► claimed ──end──► done, failed
//        ▲                 │
//        └───lease over────┘      after max_attempts claims: failed
//     queued, claimed ──cancel──► cancelled
#pragma once

#include <cstdint>

#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::tasks {

enum class TaskEvent { claim, renew, end_done, end_failed, lease_over, cancel };

// How often a task was claimed, the claim that is asked about included, and how often it may be.
struct Attempts {
    std::int64_t made = 0;
    std::int64_t most = 0;
};

// The state that follows. Errors: "task.not_queued", "task.not_claimed", "task.ended".
[[nodiscard]] base::Result<wire::TaskState> next_state(wire::TaskState state, TaskEvent event,
                                                       const Attempts& attempts);

}  // namespace wheelyard::tasks
