// running ─► built, or done for a test: looks for the exit record, then for the process.
#include "builder/attempt/limits.hpp"

#include <cstdint>

#include "builder/steps/job_result.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::builder {
namespace {

// From the request to end until the kill of an overdue job.
constexpr std::int64_t end_grace_ms = 60'000;

// Enforces the time limit where no batch system does. First asks the job to end, so that it can record its progress;
// later kills it, which the next poll detects. Returns whether the attempt changed.
base::Result<bool> end_when_overdue(Attempt& attempt, Ports& ports) {
    const base::UnixMicros now = ports.clock.now();
    const base::UnixMicros max_us = attempt.job.max_walltime_minutes * 60'000'000;
    if (ports.scheduler.is_batch_system() || max_us == 0 || now - attempt.changed < max_us) return false;
    const AttemptFolder folder = ports.folder_of(attempt);
    if (attempt.job.asked_to_end == 0) {
        WHEELYARD_TRY(base::replace_file(folder.cut(), std::string(cut_by_time) + "\n"));
        WHEELYARD_TRY(ports.scheduler.ask_to_end(attempt.id, folder));
        ports.report(attempt, "asked to end: its limit of " +
                                  std::to_string(attempt.job.max_walltime_minutes) + " minutes is over");
        attempt.job.asked_to_end = now;
        return true;
    }
    if (now - attempt.job.asked_to_end >= end_grace_ms * 1000)
        WHEELYARD_TRY(ports.scheduler.cancel(attempt.id, folder));
    return false;
}

base::Result<Next> watch_running(Attempt& attempt, Ports& ports, const JobView& job) {
    WHEELYARD_ASSIGN(bool is_changed, end_when_overdue(attempt, ports));
    is_changed = note_grant(attempt, ports, job) || is_changed;
    if (job.suspended) return WaitForEvent{WaitFor::queue, "its scheduler has suspended it: " + job.detail};
    is_changed = is_changed || !attempt.waiting.reason.empty();
    attempt.waiting = {};
    return is_changed ? Next(WriteJournal{}) : Next(Stay{});
}

}  // namespace

base::Result<Next> watch_job(Attempt& attempt, Ports& ports) {
    const JobView job = ports.see_job(attempt);
    const AttemptFolder folder = ports.folder_of(attempt);
    // Read after polling the job: if it ended in between, its record exists.
    WHEELYARD_ASSIGN(const auto record, read_exit_record(folder, attempt.id));
    if (record) {
        ports.failpoints.hit("exit.seen");
        return judge_exit(attempt, ports, *record, job);
    }
    switch (job.state) {
        case JobState::unclaimed:
            // A host has seen the claim, possibly another one with a more recent view of the folder.
            if (is_missing_for_long(attempt, ports) && ports.has_work_folder())
                return fail_job("job", {EndCause::lost, {}, folder.root.string(), {}});
            return wait_for_job_state(attempt, ports, "its claim is missing");
        case JobState::unknown:
            return wait_for_job_state(attempt, ports, job.detail);
        case JobState::running:
            return watch_running(attempt, ports, job);
        case JobState::queued:
            return judge_queued(attempt, ports, job);  // requeued after a node failure
        case JobState::vanished:
            return judge_vanished(attempt, ports, job);
    }
    return Stay{};
}

}  // namespace wheelyard::builder
