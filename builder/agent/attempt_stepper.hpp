// Advances one attempt from state to state, as far as possible now: runs the step of its state
// (builder/steps/steps.cpp) and acts on what the step returns. Only this loop advances an attempt: it
// journals its steps, waits, counts tries and ends it.
//
//     step ─► Next ─► journal ─► failpoint ─► next step … until the attempt waits or is over
#pragma once

#include "builder/attempt/journal.hpp"
#include "builder/steps/steps.hpp"

namespace wheelyard::builder {

class AttemptStepper {
  public:
    AttemptStepper(Ports& ports, const Journal& journal) : ports_(ports), journal_(journal) {}

    // Returns whether the attempt moved. An error means that the journal cannot be written: the tick must
    // end.
    [[nodiscard]] base::Result<bool> run(Attempt& attempt);

    // Cancels the attempt at a person's request: stops its job, prevents late starts, and ends it.
    [[nodiscard]] base::Status give_up(Attempt& attempt);
    // The same, for another reason.
    [[nodiscard]] base::Status give_up(Attempt& attempt, base::Error why,
                                       std::optional<EndCause> end = std::nullopt);

  private:
    struct Flow {
        bool moved = false;
        bool ends = true;  // no further step in this tick
        Step then = nullptr;
    };
    // `before`: what the attempt waited for before the step.
    base::Result<Flow> act(Attempt& attempt, const StepRow& row, const Waiting& before, const Next& next);
    base::Result<Flow> act_on_error(Attempt& attempt, const StepRow& row, const base::Error& error);
    [[nodiscard]] bool has_waited_too_long(const Attempt& attempt, const base::Error& error) const;
    [[nodiscard]] bool forbid_late_start(const Attempt& attempt);
    base::Status wait(Attempt& attempt, const base::Error& reason, bool is_reported);
    base::Status write(const Attempt& attempt) const;
    base::Status enter(Attempt& attempt, State state);
    base::Status finish(Attempt& attempt);
    base::Status fail(Attempt& attempt, Failure failure);

    Ports& ports_;
    const Journal& journal_;
};

}  // namespace wheelyard::builder
