// submitting ─► running: looks for the job's claim; submits again if there is neither a claim nor a job.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "builder/steps/job_result.hpp"
#include "builder/steps/steps.hpp"

namespace wheelyard::builder {
namespace {

// After this time without a claim, the job is started again (harmless, see script.hpp).
constexpr std::int64_t submit_grace_ms = 5'000;
// The same if a batch system reports no job: an sbatch of a killed agent may still arrive.
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

// Taking the claim prevents any late start of this attempt. If a job has already claimed, the next tick finds it. If
// the folder is missing, no job can run either.
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
