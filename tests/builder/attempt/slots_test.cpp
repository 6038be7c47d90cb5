#include "builder/attempt/slots.hpp"

#include <doctest/doctest.h>

#include "builder/attempt/limits.hpp"

namespace wheelyard::builder {
namespace {

Attempt attempt_in(State state, WaitFor what = WaitFor::nothing) {
    Attempt attempt;
    attempt.asked.cell = "demo-1.0-cp311";
    attempt.state = state;
    attempt.waiting.what = what;
    return attempt;
}

TEST_CASE("an attempt holds a preparation slot until its submission, then a job slot until its job ends") {
    struct Row {
        State state;
        WaitFor what;
        bool job;
        bool preparation;
        bool without_slot;
    };
    using enum State;
    using enum WaitFor;
    const Row rows[] = {
        {planned, nothing, false, true, false},
        {planned, retry, false, false, true},
        {planned, person, false, false, true},
        {fetched, nothing, false, true, false},
        {fetched, login_step, false, true, false},
        {fetched, retry, false, false, true},
        {prepared, nothing, false, true, false},
        {prepared, job_slot, false, true, false},
        {prepared, retry, true, false, false},        // at its submission
        {prepared, submission, false, false, false},  // its queue takes no jobs: others may have another
        {submitting, nothing, true, false, false},
        {submitting, submission, false, false, false},  // to be submitted again: there is no job
        {submitting, job_slot, false, false, false},
        {submitting, queue, true, false, false},
        {running, nothing, true, false, false},
        {running, retry, true, false, false},
        {running, scheduler, true, false, false},
        {built, nothing, false, false, false},
        {uploading, retry, false, false, false},
        {uploading, person, false, false, false},
        {done, nothing, false, false, false},
        {failed, nothing, false, false, false},
    };
    for (const Row& row : rows) {
        CAPTURE(state_text(row.state));
        CAPTURE(wait_words.text(row.what));
        const Attempt attempt = attempt_in(row.state, row.what);
        CHECK(holds_job_slot(attempt) == row.job);
        CHECK(holds_preparation_slot(attempt) == row.preparation);
        CHECK(waits_without_slot(attempt) == row.without_slot);
        Attempt promotion = attempt;
        promotion.asked.purpose = Purpose::promotion;
        CHECK(!holds_job_slot(promotion));
        CHECK(!holds_preparation_slot(promotion));
        CHECK(!waits_without_slot(promotion));
    }
}

TEST_CASE("the limit that is reached is the reason why no attempt begins") {
    std::vector<Attempt> attempts;
    CHECK(why_none_begins(attempts).empty());
    for (int i = 0; i < max_preparing; ++i)
        attempts.push_back(attempt_in(State::fetched));
    CHECK(why_none_begins(attempts) ==
          "waits for one of 2 places to prepare, taken by demo-1.0-cp311, demo-1.0-cp311");
    attempts.front().waiting.what = WaitFor::retry;
    CHECK(why_none_begins(attempts).empty());
    for (int i = 0; i < max_waiting_attempts; ++i)
        attempts.push_back(attempt_in(State::planned, WaitFor::retry));
    CHECK(why_none_begins(attempts).starts_with("waits: 51 attempts wait"));
}

}  // namespace
}  // namespace wheelyard::builder
