#include "builder/attempt/slots.hpp"

#include <algorithm>

#include "builder/attempt/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

bool needs_job(const Attempt& attempt) {
    return attempt.asked.purpose != Purpose::promotion && !is_over(attempt.state);
}

}  // namespace

bool waits_for_an_answer(const Attempt& attempt) {
    return attempt.waiting.what == WaitFor::retry || attempt.waiting.what == WaitFor::person;
}

// A prepared attempt that waits for an answer has tried to submit: the batch system accepts no job now.
bool holds_job_slot(const Attempt& attempt) {
    if (!needs_job(attempt)) return false;
    if (attempt.state == State::prepared) return waits_for_an_answer(attempt);
    // Its job was submitted before, the scheduler knows none, and a further submission waits. The state stays: should
    // the answer to the earlier submission be lost, that job is still looked for, and no script is rewritten under it.
    const bool waits_to_submit =
        attempt.waiting.what == WaitFor::submission || attempt.waiting.what == WaitFor::job_slot;
    if (attempt.state == State::submitting && waits_to_submit) return false;
    return may_have_job(attempt.state);
}

// A prepared attempt whose queue is held takes the place of none for another queue.
bool holds_place(const Attempt& attempt) {
    return needs_job(attempt) && is_before_job(attempt.state) && !waits_for_an_answer(attempt) &&
           attempt.waiting.what != WaitFor::submission;
}

bool waits_without_place(const Attempt& attempt) {
    return needs_job(attempt) && is_before_job(attempt.state) && attempt.state != State::prepared &&
           waits_for_an_answer(attempt);
}

SlotUse count_slots(const std::vector<Attempt>& attempts) {
    SlotUse use;
    for (const Attempt& attempt : attempts) {
        use.jobs += holds_job_slot(attempt) ? 1 : 0;
        use.preparing += holds_place(attempt) ? 1 : 0;
        use.waiting += waits_without_place(attempt) ? 1 : 0;
    }
    return use;
}

std::string why_none_begins(const std::vector<Attempt>& attempts) {
    const SlotUse use = count_slots(attempts);
    if (use.waiting >= max_waiting_attempts) {
        return "waits: " + std::to_string(use.waiting) +
               " attempts wait for a service that does not answer or for a person; see `status`";
    }
    if (use.preparing < max_preparing) return "";
    std::vector<std::string> names;
    for (const Attempt& attempt : attempts) {
        if (holds_place(attempt)) names.push_back(attempt.asked.cell);
    }
    std::sort(names.begin(), names.end());
    return "waits for one of " + std::to_string(max_preparing) + " places to prepare, taken by " +
           base::join(names, ", ");
}

}  // namespace wheelyard::builder
