// What a step returns: what the attempt does next, as data. The loop (builder/agent/attempt_stepper.hpp) writes the
// journal and acts on it. A step that returns an Error has not moved: the loop tries again after a backoff if the
// error may pass, otherwise the attempt fails.
#pragma once

#include <string>
#include <variant>

#include "builder/attempt/attempt.hpp"
#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

struct Stay;
struct WriteJournal;
struct Move;
struct Retreat;
struct WaitForEvent;
struct TryLater;
struct Fail;
using Next = std::variant<Stay, WriteJournal, Move, Retreat, WaitForEvent, TryLater, Fail>;
using Step = base::Result<Next> (*)(Attempt&, Ports&);

// Nothing has changed; another tick looks again.
struct Stay {};
// Writes the attempt in its state, then runs `then`; nullptr: another tick looks again.
struct WriteJournal {
    Step then = nullptr;
};
// Enters a state, then runs `then`; nullptr: the step of that state.
struct Move {
    State to;
    Step then = nullptr;
};
// Returns to a state, with the wait of before the step, because of `why`, which the loop treats as the step's error.
struct Retreat {
    State to;
    base::Error why;
};
// Waits for an event that each tick looks for, without a limit.
struct WaitForEvent {
    WaitFor what;
    std::string reason;
};
// The next try follows after a backoff, without a limit.
struct TryLater {
    base::Error why;
    bool is_reported = true;  // a new reason, to a person
};
struct Fail {
    Failure failure;
};

// The attempt fails in `phase` because its job ended.
[[nodiscard]] Fail fail_job(std::string phase, const JobEnd& end);
// The same, with another error than the table of causes has.
[[nodiscard]] Fail fail_job(std::string phase, EndCause cause, base::Error error);
// Waits until the scheduler or the work folder shows the state of the attempt's job.
[[nodiscard]] WaitForEvent wait_for_job_state(const Attempt& attempt, const Ports& ports,
                                              const std::string& why);
[[nodiscard]] WaitForEvent wait_in_queue(const JobView& job);

}  // namespace wheelyard::builder
