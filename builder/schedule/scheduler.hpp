// What the agent asks of a batch system: start, look, stop. A job is named by its attempt's id, and can be
// found again by it.
//
// Rules for every implementation: "cannot tell" is `unknown`, never `vanished`; the job's own exit record
// wins over the scheduler's word (the agent reads it first and last); starting an attempt twice runs it once
// (the script's claim).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "builder/attempt/job_end.hpp"
#include "builder/attempt/job_files.hpp"
#include "builder/site/environment.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

enum class JobState {
    unclaimed,  // no sign of life yet; a batch system says that it has no such job
    queued,     // it waits for its turn
    running,
    vanished,  // it is certainly no more
    unknown,   // cannot be asked now
};

struct JobView {
    JobState state = JobState::unknown;
    std::string detail;  // for a person: "pid 4711 on n1"
    // Of a job that is no more, or can never run: why, where the scheduler can say it.
    std::optional<JobEnd> end = {};
};

// Of two jobs of one name (an agent was killed while its submission was on its way) one holds the claim; the
// other ended at once and well. So the living one is meant, else the one whose end says something. Whether
// `one` is meant rather than `other`, which came before it.
[[nodiscard]] bool tells_more(const JobView& one, const JobView& other);

struct QueueSettings;  // site.hpp

struct JobRequest {
    std::string attempt;  // the job's name
    AttemptFolder folder;
    EnvironmentMap environment;
    int cores = 1;
    std::int64_t memory_mib = 0;            // 0: whatever the scheduler gives
    std::int64_t max_walltime_minutes = 0;  // what a scheduler that can should enforce itself; 0: no limit
    int nodes = 1;
    int ranks_per_node = 1;                // MPI processes, each with `cores`
    const QueueSettings* queue = nullptr;  // where it goes; nullptr: where builds go
};

// What a batch system that cannot serve now answers; all of them may pass. There is certainly no job.
[[nodiscard]] base::Error not_now(std::string sentence, std::string value);
// There may be a job: ask for its name.
[[nodiscard]] base::Error unsure(std::string sentence, std::string value);
// Nothing is known.
[[nodiscard]] base::Error unavailable(std::string sentence, std::string value);

class Scheduler {
  public:
    virtual ~Scheduler() = default;
    // An error of kind unavailable: there is certainly no job, and a later try may succeed.
    [[nodiscard]] virtual base::Status submit(const JobRequest& job) = 0;
    // One look for all: a view for every name in `attempts`.
    [[nodiscard]] virtual std::map<std::string, JobView> poll(
        const std::map<std::string, AttemptFolder>& attempts) = 0;
    // Asks the job to end, so that it can still say how far it came. Where the scheduler's own stop does that
    // and kills what stays, that is enough.
    [[nodiscard]] virtual base::Status ask_to_end(const std::string& attempt, const AttemptFolder& folder) {
        return cancel(attempt, folder);
    }
    // Whether a program beside us keeps the jobs: it knows why one ended, and takes its time to do and say
    // so.
    [[nodiscard]] virtual bool is_batch_system() const { return false; }
    // Stops the job with all its processes; a job that is no more is not an error.
    [[nodiscard]] virtual base::Status cancel(const std::string& attempt, const AttemptFolder& folder) = 0;
};

}  // namespace wheelyard::builder
