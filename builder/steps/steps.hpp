// The states of an attempt and the step of each: the table that the loop follows and that
// docs/reference/journal.md shows. Steps are idempotent: after a kill in between, the next tick finds the
// work done or repeats it with the same result.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// What a step returns: what the attempt does next, as data. The loop (builder/agent/attempt_stepper.hpp)
// writes the journal and acts on it. A step that returns an Error has not moved: the loop tries again after a
// backoff if the error may pass, otherwise the attempt fails.

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
// Returns to a state, with the wait of before the step, because of `why`, which the loop treats as the step's
// error.
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
// The attempt fails with another error than the table of causes has.
[[nodiscard]] Fail fail_job(std::string phase, EndCause cause, base::Error error);
// Waits until the scheduler or the work folder shows the state of the attempt's job.
[[nodiscard]] WaitForEvent wait_for_job_state(const Attempt& attempt, const Ports& ports,
                                              const std::string& why);
[[nodiscard]] WaitForEvent wait_in_queue(const JobView& job);

inline constexpr int max_submits = 3;  // of one attempt whose job never began to run
inline constexpr int max_sends = 10;   // of one wheel, whole or in part; then a person must act

[[nodiscard]] base::Result<Next> fetch_source(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> prepare_build(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> prepare_test(Attempt& attempt, Ports& ports);
// The script of an attempt's job, as these two write it, and what is in it for a person to read. Starts and
// writes nothing. `project`: the folder of the source; empty: it is not there. Errors: "python.missing",
// "recipe.patch", those of find_hashed_files().
struct JobText {
    std::string script, summary;
};
[[nodiscard]] base::Result<JobText> text_of_job(const Attempt& attempt, const Ports& ports,
                                                const std::filesystem::path& project);
// Counts the submission, for the first time or again, which follows once the journal has it; or waits, for a
// job slot or while the queue is held.
[[nodiscard]] base::Result<Next> submit_job(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> watch_start(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> watch_job(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> inspect_wheel(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> compare_wheel(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> upload_wheel(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> promote_wheel(Attempt& attempt, Ports& ports);

// Explains a failure of a job or of a step on the login node from its log, by the doctor's rules. If no
// external cause of the job's end is known, the rule decides what is retried automatically. `free_bytes`: of
// the file system of the attempt's folder.
void diagnose(const Attempt& attempt, const AttemptFolder& folder, const RuleBook& rules,
              std::uint64_t free_bytes, Failure& failure);

// The attempts that a row is for.
struct Purposes {
    bool (*contain)(Purpose);
    std::string_view text;  // for the document
};

struct StepRow {
    State state;
    Purposes purposes;
    std::string_view name;       // the phase in a failure
    Step step;                   // nullptr: the attempt is over
    std::string_view durable;    // before the state is entered
    std::string_view next_tick;  // what it does, also after a kill
};

// nullptr: the attempt is over.
[[nodiscard]] const StepRow* find_step(const Attempt& attempt);

// The state whose step writes the script of the attempt's job. Not for a promotion, which has no job.
[[nodiscard]] State state_before_script(Purpose purpose);

// A Markdown table with one row for each state.
[[nodiscard]] std::string render_steps();

}  // namespace wheelyard::builder
