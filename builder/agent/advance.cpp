// The idempotent steps of one attempt; advance.hpp has them as a table.
#include "builder/agent/advance.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "builder/agent/limits.hpp"
#include "builder/agent/provenance.hpp"
#include "builder/attempt/backoff.hpp"
#include "builder/attempt/leftovers.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/plan/request.hpp"
#include "builder/script/script.hpp"
#include "builder/script/script_frame.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/sources/login_step.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace fs = std::filesystem;

struct Advance::StepRow {
    State state;
    std::string_view name;  // the phase in a failure
    StepFunction step;
};

const Advance::StepRow* Advance::find_step(const Attempt& attempt) {
    static constexpr std::array<StepRow, 7> of_builds = {{{State::planned, "fetch", &Advance::fetch},
                                                          {State::fetched, "prepare", &Advance::prepare},
                                                          {State::prepared, "submit", &Advance::submit},
                                                          {State::submitting, "start", &Advance::watch_start},
                                                          {State::running, "job", &Advance::watch},
                                                          {State::built, "inspect", &Advance::inspect_wheel},
                                                          {State::uploading, "upload", &Advance::upload}}};
    static constexpr std::array<StepRow, 4> of_tests = {{{State::planned, "prepare", &Advance::prepare_test},
                                                         {State::prepared, "submit", &Advance::submit},
                                                         {State::submitting, "start", &Advance::watch_start},
                                                         {State::running, "job", &Advance::watch}}};
    static constexpr std::array<StepRow, 1> of_promotions = {
        {{State::planned, "promote", &Advance::promote}}};
    std::span<const StepRow> steps = of_builds;
    if (is_test(attempt.purpose)) steps = of_tests;
    if (attempt.purpose == Purpose::promotion) steps = of_promotions;
    const auto found = std::find_if(steps.begin(), steps.end(),
                                    [&](const StepRow& row) { return row.state == attempt.state; });
    return found == steps.end() ? nullptr : &*found;
}

base::Result<bool> Advance::run(Attempt& attempt, const JobViews& views) {
    if (!is_due(parts_.clock.now(), attempt.waiting.not_before, max_wait_ms)) return false;
    const auto seen = views.find(attempt.id);
    const JobView view = seen == views.end() ? JobView{JobState::unknown, "not looked at yet"} : seen->second;
    bool moved = false;
    for (int count = 0; count < max_steps_per_tick; ++count) {
        const StepRow* row = find_step(attempt);
        if (row == nullptr) break;
        const auto step = (this->*row->step)(attempt, view);
        WHEELYARD_TRY(still_ours());
        if (!step && attempt.state == State::fetched && step.error().kind == base::ErrorKind::missing)
            attempt.state = State::planned;  // its download is missing: fetch it again
        if (!step && is_waited_for(attempt, step.error())) {
            if (!has_waited_too_long(attempt, step.error())) {
                WHEELYARD_TRY(wait(attempt, step.error()));
                break;
            }
            WHEELYARD_TRY(fail_after_wait(attempt, std::string(row->name), step.error()));
            return true;
        }
        if (!step) {
            if (attempt.state == State::submitting && !forbid_late_start(attempt)) break;
            const bool try_again = step.error().kind == base::ErrorKind::program;
            WHEELYARD_TRY(fail(attempt, std::string(row->name), step.error(), try_again));
            return true;
        }
        if (*step == Step::not_yet) break;
        moved = true;
    }
    return moved;
}

// After a network error in a step on the login node, the attempt waits for a limited time: the error in the log may
// not be the cause.
bool Advance::is_waited_for(const Attempt& attempt, const base::Error& error) {
    const bool is_of_login_step = error.kind == base::ErrorKind::program;
    return error.may_pass() && (!is_of_login_step || attempt.waiting.tries < max_login_waits);
}

// There is no limit while a job may exist (its walltime and the scheduler end it) or while a person must act.
bool Advance::has_waited_too_long(const Attempt& attempt, const base::Error& error) const {
    const bool may_have_job = attempt.state == State::submitting || attempt.state == State::running;
    if (may_have_job || error.recovery == base::Recovery::person) return false;
    if (error.kind == base::ErrorKind::in_progress || attempt.waiting.since == 0) return false;
    return parts_.clock.now() - attempt.waiting.since >= max_error_wait_ms * 1000;
}

// Another attempt may begin, up to max_attempts. A wheel that has been built is kept for `retry`.
base::Status Advance::fail_after_wait(Attempt& attempt, std::string phase, const base::Error& error) {
    const std::int64_t waited_ms = (parts_.clock.now() - attempt.waiting.since) / 1000;
    const bool has_wheel = attempt.state >= State::built;
    return fail(
        attempt, std::move(phase),
        {"wait.too_long",
         "The attempt waited " + base::render_duration_ms(waited_ms) +
             " for an error to pass. The last error: " + error.sentence,
         error.value,
         has_wheel ? "then run `wheelyard-builder retry`, which uploads the wheel again" : error.advice},
        !has_wheel);
}

// The answer of an earlier submission may be lost. Taking the claim prevents its job from running. False: a job has
// already claimed and runs; the next poll finds it.
bool Advance::forbid_late_start(const Attempt& attempt) {
    std::error_code error;
    const bool taken = fs::create_directory(folder_of(attempt).claim(), error);
    if (!taken && !error) return false;  // the claim existed
    static_cast<void>(parts_.scheduler.cancel(
        attempt.id, folder_of(attempt)));  // best effort: a queued job would end at once
    return true;
}

base::Status Advance::give_up(Attempt& attempt) {
    const EndRow& end = end_row(EndCause::cancelled);
    return give_up(
        attempt,
        {std::string(end.code), "A person cancelled the attempt", attempt.id, std::string(end.advice)},
        end.cause);
}

base::Status Advance::give_up(Attempt& attempt, base::Error why, std::optional<EndCause> end) {
    const StepRow* row = find_step(attempt);
    call_off_login_step(folder_of(attempt).root, wheelhouse_step);
    if (attempt.state == State::submitting || attempt.state == State::running) {
        // Taking the claim prevents a late job from running.
        std::error_code ignored;
        fs::create_directory(folder_of(attempt).claim(), ignored);
        WHEELYARD_TRY(parts_.scheduler.cancel(attempt.id, folder_of(attempt)));
    }
    return fail(attempt, row == nullptr ? "" : std::string(row->name), std::move(why), false, end);
}

Recipe Advance::recipe_of(const Attempt& attempt) const {
    return recipe_for(parts_.site, parts_.recipes, attempt.package, attempt.version, attempt.accelerator);
}

base::Result<fs::path> Advance::python_of(const Attempt& attempt) const {
    const auto python = parts_.pythons.find(attempt.python);
    if (python == parts_.pythons.end() || !python->second)
        return base::fail("python.missing", "Python " + attempt.python + " is no longer usable on this site",
                          attempt.python, "see `plan --explain`");
    return python->second->executable;
}

AttemptFolder Advance::folder_of(const Attempt& attempt) const {
    const fs::path attempts = parts_.site.work_directory / "attempts";
    return {attempts / attempt.id, attempt.builds_in.empty() ? fs::path() : attempts / attempt.builds_in};
}

base::Status Advance::still_ours() const {
    return parts_.still_ours();
}

base::Status Advance::write(const Attempt& attempt) const {
    WHEELYARD_TRY(still_ours());
    return parts_.journal.write(attempt);
}

// Writes only when the wait begins and when its reason changes.
base::Status Advance::cannot_tell(Attempt& attempt, const std::string& why) {
    if (attempt.waiting.reason.ends_with(": " + why)) return {};
    attempt.waiting = {
        WaitFor::scheduler, 0, 0, 0,
        "the state of its job is unknown since " + base::render_rfc3339(parts_.clock.now()) + ": " + why};
    return write(attempt);
}

// As cannot_tell: writes only when the reason changes.
base::Status Advance::wait_in_queue(Attempt& attempt, const std::string& detail) {
    return wait_for(attempt, WaitFor::queue, "in the queue: " + detail);
}

base::Status Advance::wait_for(Attempt& attempt, WaitFor what, const std::string& reason) {
    if (attempt.waiting.what == what && attempt.waiting.reason == reason) return {};
    attempt.waiting = {what, 0, 0, 0, reason};
    return write(attempt);
}

base::Status Advance::enter(Attempt& attempt, State state) {
    attempt.state = state;
    attempt.changed = parts_.clock.now();
    attempt.waiting = {};
    WHEELYARD_TRY(write(attempt));
    parts_.stop.here("journal." + std::string(state_text(state)));
    return {};
}

base::Status Advance::wait(Attempt& attempt, const base::Error& reason, Notes notes) {
    // Polling a step on the login node is cheap, so its delay does not grow.
    const bool is_at_work = reason.kind == base::ErrorKind::in_progress && attempt.state < State::submitting;
    const bool is_noted =
        attempt.waiting.tries > 0 && (is_at_work || reason.kind == base::ErrorKind::program);
    const int tries = is_at_work ? 0 : attempt.waiting.tries++;
    const base::UnixMicros now = parts_.clock.now();
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
    const bool is_new = std::exchange(attempt.waiting.reason, reason.text()) != reason.text();
    if (is_new && !is_noted && notes == Notes::yes) note(attempt, "waits: " + attempt.waiting.reason);
    return write(attempt);
}

base::Status Advance::fail_job(Attempt& attempt, std::string phase, const JobEnd& end) {
    base::Error error = error_of(end);
    const bool is_by_size = end.cause == EndCause::time_limit || end.cause == EndCause::out_of_memory ||
                            end.cause == EndCause::cannot_ever_run;
    if (attempt.purpose == Purpose::build && is_by_size)
        error = with_sizes(std::move(error), parts_.site, recipe_of(attempt));
    return fail(attempt, std::move(phase), std::move(error), end_row(end.cause).try_again, end.cause);
}

base::Status Advance::fail(Attempt& attempt, std::string phase, base::Error error, bool try_again,
                           std::optional<EndCause> end) {
    Failure failure{std::move(phase), std::move(error), "", try_again};
    failure.end = end;
    if (failure.end) diagnose(attempt, failure);
    if (failure.error.kind == base::ErrorKind::program) diagnose_login_step(failure);
    forget_secrets(attempt);
    const std::string first = failure.first_error.empty() ? "" : "\n    first error: " + failure.first_error;
    note(attempt, "failed: " + failure.error.text() + first);
    attempt.failure = std::move(failure);
    WHEELYARD_TRY(still_ours());
    WHEELYARD_TRY(parts_.journal.write_outcome(outcome_of(attempt)));
    return enter(attempt, State::failed);
}

// The script does the same at its end, but a killed job cannot.
void Advance::forget_secrets(const Attempt& attempt) const {
    static_cast<void>(base::remove_file(folder_of(attempt).pip_conf()));
}

base::Status Advance::finish(Attempt& attempt) {
    WHEELYARD_TRY(still_ours());
    WHEELYARD_TRY(parts_.journal.write_outcome(outcome_of(attempt)));
    parts_.stop.here("outcome.written");
    forget_secrets(attempt);
    WHEELYARD_TRY(remove_bulk(folder_of(attempt)));
    parts_.stop.here("bulk.removed");
    return enter(attempt, State::done);
}

// The build's environment, without the changes by modules and by the job's shell.
EnvironmentMap Advance::build_environment(const Attempt& attempt) const {
    EnvironmentMap environment = job_environment(parts_.environment);
    const Recipe recipe = recipe_of(attempt);
    const Site site = sized_for(parts_.site, recipe, attempt);
    for (const auto& group :
         exports_of_job(site, site.accelerator(attempt.accelerator), own_environment(recipe, attempt.purpose),
                        placeholders_of({site, attempt.version, attempt.against, attempt.accelerator}))) {
        for (const auto& [name, value] : group.variables)
            environment.insert_or_assign(name, value);
    }
    return environment;
}

wire::Outcome Advance::outcome_of(const Attempt& attempt) const {
    wire::Outcome outcome;
    outcome.attempt = attempt.id;
    outcome.task = attempt.task;
    outcome.purpose = purpose_text(attempt.purpose);
    outcome.site = parts_.site.name;
    outcome.package = attempt.package;
    outcome.version = attempt.version;
    outcome.python = attempt.python;
    outcome.number = attempt.number;
    outcome.done = !attempt.failure.has_value();
    outcome.began = attempt.created;
    outcome.ended = parts_.clock.now();
    for (std::size_t i = 0; i < attempt.phases.size(); ++i) {
        const auto end = i + 1 < attempt.phases.size() ? attempt.phases[i + 1].began : attempt.job_ended;
        outcome.phases.push_back(
            {attempt.phases[i].name, static_cast<double>(end - attempt.phases[i].began) / 1e6});
    }
    outcome.memory_mib = attempt.memory_mib;
    outcome.max_walltime_minutes = attempt.max_walltime_minutes;
    outcome.cores = attempt.cores;
    outcome.remedy = attempt.remedy;
    outcome.provenance = read_provenance(folder_of(attempt), build_environment(attempt));
    outcome.governed = attempt.governed;
    outcome.exit_code = attempt.exit_code;
    if (attempt.end) {
        outcome.scheduler_word = attempt.end->word;
        outcome.job_seconds = attempt.end->used.seconds;
        outcome.job_cpu_seconds = attempt.end->used.cpu_seconds;
        outcome.job_memory_kib = attempt.end->used.memory_kib;
    }
    if (attempt.failure) {
        outcome.diagnosis = {attempt.failure->phase, attempt.failure->error, attempt.failure->first_error,
                             attempt.failure->cause, attempt.failure->line};
    }
    outcome.source_kind = attempt.source.kind;
    outcome.source_origin = attempt.source.origin;
    outcome.source_filename = attempt.source.filename;
    outcome.source_sha256 = attempt.source.sha256;
    outcome.wheel_filename = attempt.wheel.filename;
    outcome.wheel_sha256 = attempt.wheel.sha256;
    outcome.wheel_size = attempt.wheel.size;
    outcome.verdicts = attempt.verdicts;
    return outcome;
}

void Advance::note(const Attempt& attempt, const std::string& text) const {
    if (parts_.note) parts_.note(attempt, text);
}

base::Status Advance::remove_bulk(const AttemptFolder& folder) const {
    for (const auto& path : folder.bulk())
        WHEELYARD_TRY(free_space(path, parts_.breathe));
    return {};
}

io::HttpProgress Advance::progress() const {
    return [this](std::uint64_t, std::uint64_t) {
        return still_ours().has_value();  // false ends the transfer
    };
}

}  // namespace wheelyard::builder
