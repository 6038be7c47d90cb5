#include "builder/attempt/slots.hpp"

#include <algorithm>
#include <iterator>

#include "builder/attempt/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

enum class Holds { nothing, preparation, job, returned };  // slots; returned: that of preparation

// By what the attempt waits for; states that are not here hold nothing.
struct SlotRow {
    State state;
    Holds usually;
    Holds for_an_answer;   // of a service or a person
    Holds for_submission;  // until its queue takes jobs: it takes the slot of none for another queue
    Holds for_a_slot;
};
constexpr SlotRow slot_rows[] = {
    {State::planned, Holds::preparation, Holds::returned, Holds::nothing, Holds::preparation},
    {State::fetched, Holds::preparation, Holds::returned, Holds::nothing, Holds::preparation},
    // With an error it has tried to submit: the batch system accepts no job now.
    {State::prepared, Holds::preparation, Holds::job, Holds::nothing, Holds::preparation},
    // Its job was submitted before, the scheduler knows none, and a further submission waits. The state
    // stays: should the answer to the earlier submission be lost, that job is still looked for, and no script
    // is rewritten under it.
    {State::submitting, Holds::job, Holds::job, Holds::nothing, Holds::nothing},
    {State::running, Holds::job, Holds::job, Holds::job, Holds::job},
};

Holds held_by(const Attempt& attempt) {
    if (attempt.asked.purpose == Purpose::promotion) return Holds::nothing;
    const auto* row = std::find_if(std::begin(slot_rows), std::end(slot_rows),
                                   [&](const SlotRow& one) { return one.state == attempt.state; });
    if (row == std::end(slot_rows)) return Holds::nothing;
    if (waits_for_an_answer(attempt)) return row->for_an_answer;
    if (attempt.waiting.what == WaitFor::submission) return row->for_submission;
    if (attempt.waiting.what == WaitFor::job_slot) return row->for_a_slot;
    return row->usually;
}

}  // namespace

bool waits_for_an_answer(const Attempt& attempt) {
    return attempt.waiting.what == WaitFor::retry || attempt.waiting.what == WaitFor::person;
}

bool holds_job_slot(const Attempt& attempt) {
    return held_by(attempt) == Holds::job;
}

bool holds_preparation_slot(const Attempt& attempt) {
    return held_by(attempt) == Holds::preparation;
}

bool waits_without_slot(const Attempt& attempt) {
    return held_by(attempt) == Holds::returned;
}

SlotUse count_slots(const std::vector<Attempt>& attempts) {
    SlotUse use;
    for (const Attempt& attempt : attempts) {
        use.jobs += holds_job_slot(attempt) ? 1 : 0;
        use.preparing += holds_preparation_slot(attempt) ? 1 : 0;
        use.waiting += waits_without_slot(attempt) ? 1 : 0;
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
        if (holds_preparation_slot(attempt)) names.push_back(attempt.asked.cell);
    }
    std::sort(names.begin(), names.end());
    return "waits for one of " + std::to_string(max_preparing) + " places to prepare, taken by " +
           base::join(names, ", ");
}

}  // namespace wheelyard::builder
