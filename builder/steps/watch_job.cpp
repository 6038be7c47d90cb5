// running ─► built, or done for a test: looks for the exit record, then for the process.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "builder/attempt/job_files.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/steps/steps.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"

namespace wheelyard::builder {

namespace {

// What the end of a job means: from its exit record, the reason for ending it, and the scheduler's status.

// Each returns what the attempt does next; a failed job is such a result. Errors: a file cannot be read or
// written.

// What the file `cut` says: the agent or the batch system asked the job to end, because of its time limit or
// for a reason that the job cannot know.
constexpr std::string_view cut_by_time = "time_limit";
constexpr std::string_view cut_by_signal = "terminated";

// How long to wait for the scheduler to report why a job failed.
constexpr std::int64_t scheduler_status_grace_ms = 5 * 60'000;

// Causes that explain a failure better than the exit code.
constexpr std::array<EndCause, 6> from_outside = {EndCause::time_limit,   EndCause::out_of_memory,
                                                  EndCause::node_failure, EndCause::preempted,
                                                  EndCause::requeued,     EndCause::cancelled};

bool is_from_outside(EndCause cause) {
    return std::find(from_outside.begin(), from_outside.end(), cause) != from_outside.end();
}

// A job writes its record before its scheduler reports its end.
bool awaits_scheduler_status(const Ports& ports, const ExitRecord& record, const JobView& job) {
    if (!ports.scheduler.is_batch_system() || job.state == JobState::vanished || job.end) return false;
    // The node's clock may be ahead of this one.
    return std::abs(ports.clock.now() - record.ended) < scheduler_status_grace_ms * 1000;
}

// Why the job failed, if something else than its own exit code says so. The scheduler's status outranks the
// script's: a signal of the scheduler's can make the script's alarm fire early.
std::optional<JobEnd> explain(const AttemptFolder& folder, const ExitRecord& record, const JobView& job) {
    const std::string cut = read_cut(folder);
    JobEnd end = job.end.value_or(JobEnd{});
    if (cut == cut_by_time && (end.cause == EndCause::time_limit || !is_from_outside(end.cause))) {
        end.cause = EndCause::time_limit;
        end.scheduler_status = "in phase `" + record.phase + "`" +
                               (end.scheduler_status.empty() ? "" : ", " + end.scheduler_status);
        return end;
    }
    if (is_from_outside(end.cause)) return end;
    if (cut != cut_by_signal) return std::nullopt;
    // The scheduler has forgotten who asked it to end the job, or never knew: a node that shuts down.
    end.cause = EndCause::killed;
    return end;
}

// The summary serves the outcome and the next request. If it is missing or malformed (broker killed, disk
// full), the build is judged without it.
void read_governor_summary(Attempt& attempt, const AttemptFolder& folder) {
    const auto text = base::read_untrusted_file(folder.governor_summary(), wire::max_governor_summary_bytes);
    if (!text) return;
    if (auto governed = wire::parse_governor_summary(*text)) attempt.job.governed = std::move(*governed);
}

Fail judge_failure(const Attempt& attempt, const AttemptFolder& folder, const ExitRecord& record,
                   const JobView& job) {
    if (record.phase == fence_phase && record.exit_code == fence_exit_code)
        return fail_job(record.phase, {EndCause::tree_busy, {}, attempt.job.tree, {}});
    if (record.phase == limits_phase && record.exit_code == over_limit_exit_code)
        return fail_job(record.phase, {EndCause::over_limit, {}, read_over_limit(folder.log()), {}});
    if (const auto end = explain(folder, record, job)) return fail_job(record.phase, *end);
    if (attempt.job.governed && attempt.job.governed->could_not_fit > 0) {
        const auto& messages = attempt.job.governed->messages;
        return fail_job(record.phase, EndCause::out_of_memory,
                        {std::string(end_row(EndCause::out_of_memory).code),
                         "A compiler process did not fit into memory, even alone" +
                             (messages.empty() ? std::string() : ": " + messages.back()),
                         wire::describe(*attempt.job.governed),
                         "it is retried with more memory, up to max_memory_mib of site.toml"});
    }
    return fail_job(
        record.phase, EndCause::failed,
        {std::string(end_row(EndCause::failed).code),
         "Phase " + record.phase + " ended with exit code " + std::to_string(record.exit_code),
         attempt.asked.package + " " + attempt.asked.version, "read its log: wheelyard-builder logs"});
}

// Says whether the job is missing since a minute: one answer may come from an empty cache, and a network file
// system may show a record or a claim late. The first call notes the time in `job.ended`, and
// Ports::see_job() clears it.
bool is_missing_for_long(Attempt& attempt, const Ports& ports) {
    const base::UnixMicros now = ports.clock.now();
    if (attempt.job.ended == 0) {
        attempt.job.ended = now;
        attempt.waiting.reason.clear();  // The wait is news, and with it this time is written.
    }
    // The clock of the login node that noted it may be slightly ahead of this one.
    return std::abs(now - attempt.job.ended) >= claim_grace_ms * 1000;
}

// Records what the scheduler granted where it differs from the request; returns whether that is new.
bool note_grant(Attempt& attempt, const Ports& ports, const JobView& job) {
    JobGrant other;
    // Without a request it is the site's default.
    if (attempt.job.max_walltime_minutes > 0 &&
        job.granted.max_walltime_minutes != attempt.job.max_walltime_minutes)
        other.max_walltime_minutes = job.granted.max_walltime_minutes;
    // The memory of a test is that of several nodes together.
    if (makes_wheel(attempt.asked.purpose) && attempt.job.memory_mib > 0 &&
        job.granted.memory_mib != attempt.job.memory_mib)
        other.memory_mib = job.granted.memory_mib;
    const bool is_known = job.granted.max_walltime_minutes > 0 || job.granted.memory_mib > 0;
    if (!is_known || other == attempt.job.granted) return false;
    attempt.job.granted = other;
    if (other.max_walltime_minutes > 0)
        ports.report(attempt, "its scheduler granted " + std::to_string(other.max_walltime_minutes) +
                                  " minutes, not the requested " +
                                  std::to_string(attempt.job.max_walltime_minutes));
    return true;
}

// A job in the queue waits, unless it can never run.
base::Result<Next> judge_queued(Attempt& attempt, Ports& ports, const JobView& job) {
    if (!job.end && note_grant(attempt, ports, job)) return WriteJournal{};
    if (!job.end) return wait_in_queue(job);
    WHEELYARD_TRY(ports.scheduler.cancel(attempt.id, ports.folder_of(attempt)));
    attempt.job.end = job.end;
    return fail_job("queue", *job.end);
}

// There is an exit record.
base::Result<Next> judge_exit(Attempt& attempt, Ports& ports, const ExitRecord& record, const JobView& job) {
    if (record.exit_code != 0 && awaits_scheduler_status(ports, record, job)) return Stay{};
    const AttemptFolder folder = ports.folder_of(attempt);
    // Kills servers and watchers that the build left running; a batch system does so itself.
    if (!ports.scheduler.is_batch_system()) WHEELYARD_TRY(ports.scheduler.cancel(attempt.id, folder));
    // A job that was queued again would find the attempt claimed.
    if (job.state == JobState::queued && job.end) WHEELYARD_TRY(ports.scheduler.cancel(attempt.id, folder));
    static_cast<void>(note_grant(attempt, ports, job));
    attempt.job.end = job.end;
    attempt.job.phases = record.phases;
    attempt.job.exit_code = record.exit_code;
    attempt.job.ended = record.ended;
    read_governor_summary(attempt, folder);
    if (record.exit_code != 0) return judge_failure(attempt, folder, record, job);
    if (!is_test(attempt.asked.purpose)) return Move{State::built};
    ports.report(attempt, "passed");
    return Move{State::done};
}

// There is neither an exit record nor a job.
base::Result<Next> judge_vanished(Attempt& attempt, Ports& ports, const JobView& job) {
    JobEnd end = job.end.value_or(JobEnd{});
    const bool is_batch_system = ports.scheduler.is_batch_system();
    const bool is_explained = end.cause != EndCause::unexplained || end.exit_code.value_or(0) != 0;
    if (is_batch_system && !is_explained && !is_missing_for_long(attempt, ports))
        return wait_for_job_state(attempt, ports, job.detail + ", and there is no exit record yet");
    const AttemptFolder folder = ports.folder_of(attempt);
    if (read_cut(folder) == cut_by_time && !is_from_outside(end.cause)) end.cause = EndCause::time_limit;
    if (end.scheduler_status.empty()) end.scheduler_status = job.detail;
    // A batch system ends what it ended whole; a job that it only does not know may be at work.
    if (!is_batch_system) WHEELYARD_TRY(ports.scheduler.cancel(attempt.id, folder));
    read_governor_summary(attempt, folder);
    static_cast<void>(note_grant(attempt, ports, job));
    attempt.job.end = end;
    return fail_job("job", end);
}

// From the request to end until the kill of an overdue job.
constexpr std::int64_t end_grace_ms = 60'000;

// Enforces the time limit where no batch system does. First asks the job to end, so that it can record its
// progress; later kills it, which the next poll detects. Returns whether the attempt changed.
base::Result<bool> end_when_overdue(Attempt& attempt, Ports& ports, const JobView& job) {
    const base::UnixMicros now = ports.clock.now();
    const base::UnixMicros max_us = attempt.job.max_walltime_minutes * 60'000'000;
    if (ports.scheduler.is_batch_system() || max_us == 0 || job.ran_us < max_us) return false;
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
    WHEELYARD_ASSIGN(bool is_changed, end_when_overdue(attempt, ports, job));
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

// submitting ─► running: looks for the job's claim; submits again if there is neither a claim nor a job.
namespace {

// After this time without a claim, the job is started again (harmless, see script.hpp).
constexpr std::int64_t submit_grace_ms = 5'000;
// This is the time if a batch system reports no job: an sbatch of a killed agent may still arrive.
constexpr std::int64_t queue_submit_grace_ms = 60'000;
constexpr std::int64_t submit_grace_growth = 8;  // factor from one start to the next
constexpr std::int64_t max_submit_grace_ms = 10 * 60'000;

// Grows with each start, so that a fault of a minute does not use up all starts.
std::int64_t grace_of(const Attempt& attempt, const Ports& ports) {
    std::int64_t grace_ms = ports.scheduler.is_batch_system() ? queue_submit_grace_ms : submit_grace_ms;
    for (int start = 1; start < attempt.job.submits; ++start)
        grace_ms *= submit_grace_growth;
    return std::min(grace_ms, max_submit_grace_ms);
}

// Taking the claim prevents any late start of this attempt. If a job has already claimed, the next tick finds
// it. If the folder is missing, no job can run either.
base::Result<Next> give_up_starting(const Attempt& attempt, const Ports& ports, const JobView& job) {
    const auto claim = ports.folder_of(attempt).claim();
    if (::mkdir(claim.c_str(), 0755) != 0) {
        const int why = errno;
        if (why == EEXIST) return Stay{};
        if (why != ENOENT || !ports.has_work_folder())
            return base::fail_errno("claiming", claim.native(), why);
    }
    if (job.end && job.end->cause == EndCause::dropped) {
        JobEnd end = *job.end;
        end.scheduler_status += "; requested: " + std::to_string(attempt.job.max_walltime_minutes) +
                                " minutes, " + std::to_string(attempt.job.memory_mib) + " MiB; submitted " +
                                std::to_string(attempt.job.submits) + " times";
        return fail_job("start", end);
    }
    const EndRow& end = end_row(EndCause::never_started);
    return fail_job(
        "start", end.cause,
        {std::string(end.code),
         "The job was started " + std::to_string(attempt.job.submits) + " times, but never began to run",
         attempt.id, std::string(end.advice)});
}

}  // namespace

base::Result<Next> watch_start(Attempt& attempt, Ports& ports) {
    const JobView job = ports.see_job(attempt);
    WHEELYARD_ASSIGN(const auto record, read_exit_record(ports.folder_of(attempt), attempt.id));
    if (record || job.state == JobState::running || job.state == JobState::vanished) {
        attempt.job.ended = 0;
        return Move{State::running};
    }
    if (job.state == JobState::unknown) return wait_for_job_state(attempt, ports, job.detail);
    if (job.state == JobState::queued) return judge_queued(attempt, ports, job);
    const bool is_batch_system = ports.scheduler.is_batch_system();
    const bool is_missing = !is_batch_system || is_missing_for_long(attempt, ports);
    const bool is_overdue = ports.clock.now() - attempt.job.submitted > grace_of(attempt, ports) * 1000;
    if (is_batch_system && !(is_missing && is_overdue)) return wait_for_job_state(attempt, ports, job.detail);
    if (!is_overdue) return Stay{};
    if (attempt.job.submits < max_submits) return submit_job(attempt, ports);
    return give_up_starting(attempt, ports, job);
}

}  // namespace wheelyard::builder
