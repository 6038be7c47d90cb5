#include "builder/steps/job_result.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "builder/attempt/limits.hpp"
#include "lib/base/files/untrusted_file.hpp"

namespace wheelyard::builder {
namespace {

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

// Why the job failed, if something else than its own exit code says so. The scheduler's status outranks the script's:
// a signal of the scheduler's can make the script's alarm fire early.
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

// The summary serves the outcome and the next request. If it is missing or malformed (broker killed, disk full), the
// build is judged without it.
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

}  // namespace

bool is_missing_for_long(Attempt& attempt, const Ports& ports) {
    const base::UnixMicros now = ports.clock.now();
    if (attempt.job.ended == 0) {
        attempt.job.ended = now;
        attempt.waiting.reason.clear();  // The wait is news, and with it this time is written.
    }
    // The clock of the login node that noted it may be slightly ahead of this one.
    return std::abs(now - attempt.job.ended) >= claim_grace_ms * 1000;
}

bool note_grant(Attempt& attempt, const Ports& ports, const JobView& job) {
    JobGrant other;
    // Without a request it is the site's default.
    if (attempt.job.max_walltime_minutes > 0 &&
        job.granted.max_walltime_minutes != attempt.job.max_walltime_minutes)
        other.max_walltime_minutes = job.granted.max_walltime_minutes;
    // That of a test is of several nodes together.
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

base::Result<Next> judge_queued(Attempt& attempt, Ports& ports, const JobView& job) {
    if (!job.end && note_grant(attempt, ports, job)) return WriteJournal{};
    if (!job.end) return wait_in_queue(job);
    WHEELYARD_TRY(ports.scheduler.cancel(attempt.id, ports.folder_of(attempt)));
    attempt.job.end = job.end;
    return fail_job("queue", *job.end);
}

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

}  // namespace wheelyard::builder
