// The states of a task. Pure, no I/O.
//
//     awaits_approval ──approve──► queued      of a task with an uploaded source, or asked for without a token
//     queued ──claim──► claimed ──end──► done, failed
//        ▲               │
//        └─its site late─┘      claimed max_attempts times: failed
//     awaits_approval, queued, claimed ──cancel──► cancelled; awaits_approval ──reject──► cancelled
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::tasks {

enum class TaskEvent { approve, reject, claim, end_done, end_failed, late, cancel };

// How often the task was taken, and how often it may be.
struct Attempts {
    std::int64_t made = 0;
    std::int64_t most = 0;
};

// The next state. Errors: "task.not_queued", "task.lost", "task.awaits_nothing", "task.ended".
[[nodiscard]] base::Result<wire::TaskState> next_state(wire::TaskState state, TaskEvent event,
                                                       const Attempts& attempts);
// "task.lost": of a task that the site does not have.
[[nodiscard]] tl::unexpected<base::Error> fail_lost(std::string value);

}  // namespace wheelyard::tasks
