// The states of an attempt and the step of each: the table that the loop follows and that docs/reference/journal.md
// shows. Steps are idempotent: after a kill in between, the next tick finds the work done or repeats it with the same
// result.
#pragma once

#include <string>
#include <string_view>

#include "builder/attempt/job_files.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/steps/next.hpp"

namespace wheelyard::builder {

inline constexpr int max_submits = 3;  // of one attempt whose job never began to run
inline constexpr int max_sends = 10;   // of one wheel, whole or in part; then a person must act

[[nodiscard]] base::Result<Next> fetch_source(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> prepare_build(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> prepare_test(Attempt& attempt, Ports& ports);
// Counts the submission, for the first time or again, which follows once the journal has it; or waits, for a job slot or
// while the queue is held.
[[nodiscard]] base::Result<Next> submit_job(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> watch_start(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> watch_job(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> inspect_wheel(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> compare_wheel(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> upload_wheel(Attempt& attempt, Ports& ports);
[[nodiscard]] base::Result<Next> promote_wheel(Attempt& attempt, Ports& ports);

// Explains a failure of a job or of a step on the login node from its log, by the doctor's rules. If no external cause of
// the job's end is known, the rule decides what is retried automatically.
void diagnose(const Attempt& attempt, const AttemptFolder& folder, const RuleBook& rules, Failure& failure);

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
