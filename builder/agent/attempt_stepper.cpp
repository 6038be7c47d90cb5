#include "builder/agent/attempt_stepper.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "builder/attempt/held_queues.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/plan/request.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/sources/login_step.hpp"
#include "builder/steps/ports.hpp"
#include "builder/steps/provenance.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::builder {
namespace {

constexpr int max_steps_per_tick = 16;  // of one attempt; greater than the number of states

namespace fs = std::filesystem;

// After a network error in a step on the login node, the attempt waits for a limited time: the error in the
// log may not be the cause.
bool is_waited_for(const Attempt& attempt, const base::Error& error) {
    const bool is_of_login_step = error.kind == base::ErrorKind::program;
    return error.may_pass() && (!is_of_login_step || attempt.waiting.tries < max_login_waits);
}

// Before the job, another attempt may begin, up to max_attempts. After it a person decides whether to build
// again; the wheel of an upload is kept for `retry` (keeps_wheel()).
Failure failure_after_wait(const Attempt& attempt, std::string phase, const base::Error& error,
                           base::UnixMicros now) {
    const std::int64_t waited_ms = (now - attempt.waiting.since) / 1000;
    const bool is_upload = phase == upload_phase;
    return {.phase = std::move(phase),
            .error = {"wait.too_long",
                      "The attempt waited " + base::render_duration_ms(waited_ms) +
                          " for an error to pass. The last error: " + error.sentence,
                      error.value,
                      is_upload ? "once that is fixed, `wheelyard-builder retry` uploads the wheel again"
                                : error.advice},
            .try_again = is_before_job(attempt.state)};
}

// Each phase ends with the beginning of the next.
std::vector<wire::OutcomePhase> durations_of(const JobRecord& job) {
    std::vector<wire::OutcomePhase> phases;
    for (std::size_t i = 0; i < job.phases.size(); ++i) {
        const auto end = i + 1 < job.phases.size() ? job.phases[i + 1].began : job.ended;
        phases.push_back({job.phases[i].name, static_cast<double>(end - job.phases[i].began) / 1e6});
    }
    return phases;
}

// As the journal and the registry get it.
wire::Outcome outcome_of(const Attempt& attempt, const Ports& ports) {
    wire::Outcome outcome;
    outcome.attempt = attempt.id;
    outcome.cell = attempt.asked.cell;
    outcome.purpose = purpose_text(attempt.asked.purpose);
    outcome.site = ports.site.name;
    outcome.package = attempt.asked.package;
    outcome.version = attempt.asked.version;
    outcome.python = attempt.asked.python;
    outcome.number = attempt.number;
    outcome.done = !attempt.failure.has_value();
    outcome.began = attempt.created;
    outcome.ended = ports.clock.now();
    outcome.phases = durations_of(attempt.job);
    outcome.request = static_cast<const wire::JobSize&>(attempt.job);
    outcome.provenance = provenance_of_build(attempt, ports);
    outcome.governed = attempt.job.governed;
    outcome.exit_code = attempt.job.exit_code;
    if (attempt.job.end) {
        outcome.scheduler_status = attempt.job.end->scheduler_status;
        outcome.used = attempt.job.end->used;
    }
    if (const auto& failure = attempt.failure)
        outcome.diagnosis = {failure->phase, failure->error, failure->first_error, failure->cause,
                             failure->line};
    outcome.source = static_cast<const wire::SourceFile&>(attempt.source);
    outcome.wheel = static_cast<const wire::WheelFile&>(attempt.wheel);
    outcome.verdicts = attempt.wheel.verdicts;
    return outcome;
}

bool is_by_size(EndCause cause) {
    return cause == EndCause::time_limit || cause == EndCause::out_of_memory ||
           cause == EndCause::cannot_ever_run;
}

// Takes the job's claim (job_files.hpp), not that of a task (claim_record.hpp): a late job does not run.
// False: a job has it already.
bool take_job_claim(const AttemptFolder& folder) {
    std::error_code error;
    return fs::create_directory(folder.claim(), error) || error;
}

// The script does the same at its end, but a killed job cannot.
void forget_secrets(const AttemptFolder& folder) {
    static_cast<void>(base::remove_file(folder.pip_conf()));
}

}  // namespace

base::Result<bool> AttemptStepper::run(Attempt& attempt) {
    if (!is_due(ports_.clock.now(), attempt.waiting.not_before, max_wait_ms)) return false;
    bool moved = false;
    Flow flow{.ends = false};
    const StepRow* row = nullptr;
    Waiting before;
    for (int count = 0; count < max_steps_per_tick && !flow.ends; ++count) {
        if (flow.then == nullptr) {
            row = find_step(attempt);
            if (row == nullptr) break;
            before = attempt.waiting;
        }
        const auto next = (flow.then != nullptr ? flow.then : row->step)(attempt, ports_);
        WHEELYARD_TRY(ports_.still_ours());
        if (next) {
            WHEELYARD_ASSIGN(flow, act(attempt, *row, before, *next));
        } else {
            WHEELYARD_ASSIGN(flow, act_on_error(attempt, *row, next.error()));
        }
        moved = moved || flow.moved;
    }
    return moved;
}

base::Result<AttemptStepper::Flow> AttemptStepper::act(Attempt& attempt, const StepRow& row,
                                                       const Waiting& before, const Next& next) {
    if (const auto* written = std::get_if<WriteJournal>(&next)) {
        WHEELYARD_TRY(write(attempt));
        return Flow{.ends = written->then == nullptr, .then = written->then};
    }
    if (const auto* move = std::get_if<Move>(&next)) {
        WHEELYARD_TRY(move->to == State::done ? finish(attempt) : enter(attempt, move->to));
        return Flow{.moved = true, .ends = false, .then = move->then};
    }
    if (const auto* retreat = std::get_if<Retreat>(&next)) {
        attempt.state = retreat->to;
        attempt.changed = ports_.clock.now();
        attempt.waiting = before;  // keeps the backoff, and reports the reason only once
        return act_on_error(attempt, row, retreat->why);
    }
    if (const auto* event = std::get_if<WaitForEvent>(&next)) {
        if (attempt.waiting.what == event->what && attempt.waiting.reason == event->reason) return Flow{};
        attempt.waiting = {event->what, 0, 0, 0, event->reason};
        WHEELYARD_TRY(write(attempt));
    }
    if (const auto* later = std::get_if<TryLater>(&next))
        WHEELYARD_TRY(wait(attempt, later->why, later->is_reported));
    if (const auto* failed = std::get_if<Fail>(&next)) {
        WHEELYARD_TRY(fail(attempt, failed->failure));
        return Flow{.moved = true};
    }
    return Flow{};
}

base::Result<AttemptStepper::Flow> AttemptStepper::act_on_error(Attempt& attempt, const StepRow& row,
                                                                const base::Error& error) {
    const bool is_waited = is_waited_for(attempt, error);
    if (is_waited && !has_waited_too_long(attempt, error)) {
        WHEELYARD_TRY(wait(attempt, error, true));
        return Flow{};
    }
    if (!is_waited && attempt.state == State::submitting && !forbid_late_start(attempt)) return Flow{};
    std::string phase(row.name);
    WHEELYARD_TRY(fail(attempt, is_waited ? failure_after_wait(attempt, phase, error, ports_.clock.now())
                                          : Failure{.phase = phase,
                                                    .error = error,
                                                    .try_again = error.kind == base::ErrorKind::program}));
    return Flow{.moved = true};
}

// There is no limit while a job may exist (its walltime and the scheduler end it) or while a person must act.
bool AttemptStepper::has_waited_too_long(const Attempt& attempt, const base::Error& error) const {
    if (may_have_job(attempt.state) || error.recovery == base::Recovery::person) return false;
    if (error.kind == base::ErrorKind::in_progress || attempt.waiting.since == 0) return false;
    return ports_.clock.now() - attempt.waiting.since >= max_error_wait_ms * 1000;
}

// The answer of an earlier submission may be lost. False: its job runs; the next poll finds it.
bool AttemptStepper::forbid_late_start(const Attempt& attempt) {
    const AttemptFolder folder = ports_.folder_of(attempt);
    if (!take_job_claim(folder)) return false;
    static_cast<void>(ports_.scheduler.cancel(attempt.id, folder));  // best effort: a queued job ends at once
    return true;
}

base::Status AttemptStepper::give_up(Attempt& attempt) {
    const EndRow& end = end_row(EndCause::cancelled);
    return give_up(
        attempt,
        {std::string(end.code), "A person cancelled the attempt", attempt.id, std::string(end.advice)},
        end.cause);
}

base::Status AttemptStepper::give_up(Attempt& attempt, base::Error why, std::optional<EndCause> end) {
    const StepRow* row = find_step(attempt);
    const AttemptFolder folder = ports_.folder_of(attempt);
    call_off_login_step(folder.root, wheelhouse_step);
    if (may_have_job(attempt.state)) {
        static_cast<void>(take_job_claim(folder));  // one that runs is cancelled
        WHEELYARD_TRY(ports_.scheduler.cancel(attempt.id, folder));
    }
    return fail(attempt, {.phase = row == nullptr ? "" : std::string(row->name),
                          .error = std::move(why),
                          .try_again = false,
                          .end = end});
}

base::Status AttemptStepper::write(const Attempt& attempt) const {
    WHEELYARD_TRY(ports_.still_ours());
    return journal_.write(attempt);
}

base::Status AttemptStepper::enter(Attempt& attempt, State state) {
    attempt.state = state;
    attempt.changed = ports_.clock.now();
    attempt.waiting = {};
    WHEELYARD_TRY(write(attempt));
    ports_.failpoints.hit("journal." + std::string(state_text(state)));
    return {};
}

base::Status AttemptStepper::wait(Attempt& attempt, const base::Error& reason, bool is_reported) {
    // Polling a step on the login node is cheap, so its delay does not grow.
    const bool is_at_work = reason.kind == base::ErrorKind::in_progress && is_before_job(attempt.state);
    const bool was_reported =
        attempt.waiting.tries > 0 && (is_at_work || reason.kind == base::ErrorKind::program);
    const int tries = is_at_work ? 0 : attempt.waiting.tries++;
    const base::UnixMicros now = ports_.clock.now();
    Waiting& waiting = attempt.waiting;
    if (reason.recovery == base::Recovery::person) {
        waiting.what = WaitFor::person;
        waiting.since = 0;
    } else {
        waiting.what = is_at_work ? WaitFor::login_step : WaitFor::retry;
        // A time in the future means that the clock has stepped back.
        if (!is_at_work && (waiting.since == 0 || waiting.since > now)) waiting.since = now;
    }
    waiting.not_before = now + backoff_delay_ms(tries, wait_first_ms, max_wait_ms) * 1000;
    // Report only when the reason changes: cron mails every line.
    const bool is_new = std::exchange(waiting.reason, reason.text()) != reason.text();
    if (is_new && !was_reported && is_reported) ports_.report(attempt, "waits: " + waiting.reason);
    return write(attempt);
}

base::Status AttemptStepper::fail(Attempt& attempt, Failure failure) {
    const AttemptFolder folder = ports_.folder_of(attempt);
    std::error_code error;
    const auto space = std::filesystem::space(folder.root, error);  // without an answer all are the largest
    diagnose(attempt, folder, *ports_.site.doctor_rules, space.capacity == 0 ? UINT64_MAX : space.available,
             failure);
    if (makes_wheel(attempt.asked.purpose) && failure.end && is_by_size(*failure.end)) {
        failure.error = with_the_maximum(std::move(failure.error), *failure.end, attempt, ports_.site);
        failure.error = with_sizes(std::move(failure.error), ports_.site, ports_.recipe_of(attempt));
    }
    failure.error.advice =
        complete_commands(failure.error.advice, attempt.asked.cell, attempt.id, ports_.site);
    forget_secrets(ports_.folder_of(attempt));
    const std::string first = failure.first_error.empty() ? "" : "\n    first error: " + failure.first_error;
    ports_.report(attempt, "failed: " + failure.error.text() + first);
    attempt.failure = std::move(failure);
    WHEELYARD_TRY(ports_.still_ours());
    WHEELYARD_TRY(journal_.write_outcome(outcome_of(attempt, ports_)));
    return enter(attempt, State::failed);
}

base::Status AttemptStepper::finish(Attempt& attempt) {
    WHEELYARD_TRY(ports_.still_ours());
    WHEELYARD_TRY(journal_.write_outcome(outcome_of(attempt, ports_)));
    ports_.failpoints.hit("outcome.written");
    forget_secrets(ports_.folder_of(attempt));
    WHEELYARD_TRY(remove_bulk(attempt, ports_));
    ports_.failpoints.hit("bulk.removed");
    return enter(attempt, State::done);
}

}  // namespace wheelyard::builder
