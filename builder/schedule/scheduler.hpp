// The interface to a batch system: submit, poll, cancel. A job's name is its attempt's id; jobs are found by
// it.
//
// Rules for implementations: a job whose state cannot be determined is `unknown`, never `vanished`. The job's
// own exit record overrides what the scheduler reports (the agent reads it first and last). Starting an
// attempt twice runs it once (the script's claim).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/attempt/job_end.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/schedule/queue_settings.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

enum class JobState {
    unclaimed,  // the script has not started; a batch system does not know the job
    queued,
    running,
    vanished,  // it has ended; without an `end`, a batch system does not know it any more
    unknown,   // the state cannot be determined now
};

struct JobView {
    JobState state = JobState::unknown;
    std::string detail;  // for people: "pid 4711 on n1"
    // Why the job ended or can never run, if the scheduler reports it.
    std::optional<JobEnd> end = {};
    bool suspended = false;  // a running job that its scheduler has stopped for a while
    JobGrant granted = {};   // what the scheduler says that the job may use
};

// Whether `one` describes the job better than `other`, which was reported before it. Two jobs have one name
// if an agent was killed during submission: one of them holds the claim, the other exits at once with status
// 0. So a living job is preferred, else the one whose end has a cause.
[[nodiscard]] bool is_better_view(const JobView& one, const JobView& other);

struct JobRequest {
    std::string attempt;  // the job's name
    AttemptFolder folder;
    EnvironmentMap environment;
    int cores = 1;
    std::int64_t memory_mib = 0;            // 0: the scheduler's default
    std::int64_t max_walltime_minutes = 0;  // enforced by the scheduler if it can; 0: no limit
    int nodes = 1;
    int ranks_per_node = 1;                // MPI processes, each with `cores` cores
    const QueueSettings* queue = nullptr;  // nullptr: the queue of builds
    // What runs, for people who list the jobs: "debian12/torch-2.4.0-cp312". Letters, digits and `._+!-/`.
    std::string label = {};
};

// Temporary errors of a batch system. This one: there is certainly no job.
[[nodiscard]] base::Error no_job_created(std::string sentence, std::string value);
// For good: the batch system will never accept this request. `keys`: what to fix.
[[nodiscard]] base::Error request_refused(std::string sentence, std::string value, const std::string& keys);
// There may be a job: a poll looks for its name.
[[nodiscard]] base::Error job_may_exist(std::string sentence, std::string value);
// The scheduler did not answer a query.
[[nodiscard]] base::Error cannot_query(std::string sentence, std::string value);

class Scheduler {
  public:
    virtual ~Scheduler() = default;
    // An error of kind unavailable: there is certainly no job, and a later try may succeed. Only a refusal that names the
    // job's own request is for good.
    [[nodiscard]] virtual base::Status submit(const JobRequest& job) = 0;
    // Returns a view for every name in `attempts`, with as few queries as possible.
    [[nodiscard]] virtual std::map<std::string, JobView> poll(
        const std::map<std::string, AttemptFolder>& attempts) = 0;
    // Requests a stop that lets the job write its exit record. Where the scheduler's cancel does that before
    // it kills the job, it is used.
    [[nodiscard]] virtual base::Status ask_to_end(const std::string& attempt, const AttemptFolder& folder) {
        return cancel(attempt, folder);
    }
    // True if another program runs the jobs: it knows why a job ended, and reports changes with a delay.
    [[nodiscard]] virtual bool is_batch_system() const { return false; }
    // Stops the job with all its processes; succeeds if the job has already ended.
    [[nodiscard]] virtual base::Status cancel(const std::string& attempt, const AttemptFolder& folder) = 0;

    // Called between the queries of a poll, which take a minute each while a batch system hangs. An error ends the poll.
    base::KeepAlive keep_alive = {};
};

// The login name of the user who runs this program, as batch systems name the owner of a job.
[[nodiscard]] std::string own_user_name();

}  // namespace wheelyard::builder
