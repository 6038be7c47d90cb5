// The table of states.
#include "builder/steps/steps.hpp"

#include <algorithm>
#include <array>

namespace wheelyard::builder {

namespace {

constexpr Purposes of_all = {[](Purpose) { return true; }, "any"};
constexpr Purposes of_build = {[](Purpose purpose) { return purpose == Purpose::build; }, "build"};
constexpr Purposes of_making = {makes_wheel, "build, reproduction"};
constexpr Purposes of_reproduction = {[](Purpose purpose) { return purpose == Purpose::reproduction; },
                                      "reproduction"};
constexpr Purposes of_test = {is_test, "test"};
constexpr Purposes of_promotion = {[](Purpose purpose) { return purpose == Purpose::promotion; },
                                   "promotion"};
constexpr Purposes of_job = {[](Purpose purpose) { return purpose != Purpose::promotion; },
                             "build, reproduction, test"};

// Each state follows the one above it of the same purpose. Any step may lead to `failed`.
constexpr std::array<StepRow, 12> rows = {{
    {State::planned, of_making, "fetch", fetch_source, "nothing but the intent",
     "fetches what the cache lacks, checked by its hash"},
    {State::planned, of_test, "prepare", prepare_test, "nothing but the intent",
     "writes the script of the test"},
    {State::planned, of_promotion, "promote", promote_wheel, "nothing but the intent",
     "asks the registry to promote the wheel with its set; it answers the same if it has done so; then done"},
    {State::fetched, of_making, "prepare", prepare_build, "the source, by digest",
     "unpacks the source (back to planned if the download is missing or damaged by now), writes the script"},
    {State::prepared, of_job, "submit", submit_job, "tree and script",
     "submits, once a job slot is free and its queue takes jobs: the journal first, then the scheduler"},
    {State::submitting, of_job, "start", watch_start, "the intent to start a job",
     "looks for the job's claim, or queries the batch system for its name; starts it again if there is none "
     "(the claim lets only one run)"},
    {State::running, of_job, "job", watch_job, "the claim was seen",
     "looks for the exit record, then for the process. If claim or folder is missing while the work folder "
     "exists, the job is lost and tried again. A test that passed is done"},
    {State::built, of_build, "inspect", inspect_wheel, "the exit record says 0",
     "inspects the wheel by the registry's own rules"},
    {State::built, of_reproduction, "compare", compare_wheel, "the exit record says 0",
     "downloads the recorded wheel, checked by its hash, and compares; writes differences.txt; then done"},
    {State::uploading, of_build, upload_phase, upload_wheel, "name, digest and size of the wheel",
     "queries the index first; sends only what is not there and was not accepted before. If the page does "
     "not show it within an hour, the attempt fails. A token that is refused pauses all uploads and fails "
     "none"},
    {State::done, of_all, "", nullptr, "the page shows our digest; outcome written", "nothing"},
    {State::failed, of_all, "", nullptr, "outcome written",
     "a new attempt, unless it failed for good or too often"},
}};

}  // namespace

const StepRow* find_step(const Attempt& attempt) {
    const auto* found = std::find_if(rows.begin(), rows.end(), [&](const StepRow& row) {
        return row.state == attempt.state && row.purposes.contain(attempt.asked.purpose) &&
               row.step != nullptr;
    });
    return found == rows.end() ? nullptr : found;
}

State state_before_script(Purpose purpose) {
    return is_test(purpose) ? State::planned : State::fetched;
}

std::string render_steps() {
    std::string text =
        "| state | purpose | step | durable before it is entered | the next tick, also after a kill |\n"
        "|---|---|---|---|---|\n";
    for (const StepRow& row : rows) {
        const std::string name = row.name.empty() ? "" : "`" + std::string(row.name) + "`";
        text += "| " + std::string(state_text(row.state)) + " | " + std::string(row.purposes.text) + " | " +
                name + " | " + std::string(row.durable) + " | " + std::string(row.next_tick) + " |\n";
    }
    return text;
}

Fail fail_job(std::string phase, const JobEnd& end) {
    return fail_job(std::move(phase), end.cause, error_of(end));
}

Fail fail_job(std::string phase, EndCause cause, base::Error error) {
    Failure failure{std::move(phase), std::move(error), "", end_row(cause).try_again};
    failure.end = cause;
    return {std::move(failure)};
}

// The time in the reason is that of the first tick that saw it.
WaitForEvent wait_for_job_state(const Attempt& attempt, const Ports& ports, const std::string& why) {
    const std::string& reason = attempt.waiting.reason;
    if (reason.ends_with(": " + why)) return {attempt.waiting.what, reason};
    return {WaitFor::scheduler,
            "the state of its job is unknown since " + base::render_rfc3339(ports.clock.now()) + ": " + why};
}

WaitForEvent wait_in_queue(const JobView& job) {
    return {WaitFor::queue, "in the queue: " + job.detail};
}

}  // namespace wheelyard::builder
