// The interface to a batch system: submit, poll, cancel. A job's name is its attempt's id; jobs are found by
// it.
//
// Rules for implementations: a job whose state cannot be determined is `unknown`, never `vanished`. The job's
// own exit record overrides what the scheduler reports (the agent reads it first and last). Starting an
// attempt twice runs it once (the script's claim).
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/attempt/job_end.hpp"
#include "builder/attempt/job_files.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/words.hpp"

namespace wheelyard::builder {

// The parts of a request, each set by a key of the site file or of a recipe.
enum class JobPart { minutes, memory, nodes, gpus, cores, environment, options, account, queue };

// The parts that a site's own filter may refuse to be named have these words in site.toml.
inline constexpr auto nameable_parts = base::words<JobPart>({
    {JobPart::memory, "memory"},
    {JobPart::cores, "cores"},
    {JobPart::gpus, "gpus"},
    {JobPart::nodes, "nodes"},
    {JobPart::environment, "export"},
});

// The batch system's options of every job, apart from its name and its size.
struct QueueSettings {
    std::string queue;  // Slurm: partition
    std::string account;
    int gpus = 0;                                // per node
    std::vector<std::string> options;            // one directive line each: "--qos=standard", "-l place=excl"
    std::vector<std::string> node_options = {};  // the same, of the nodes that its jobs are sent to
    // What no directive line may name here, because the site refuses such jobs, or its guide does: a row of
    // nameable_parts.
    std::vector<JobPart> not_asked = {};
    std::vector<std::string> chunk = {};  // PBS: more resources of each node's part: "gpu_type=a100"
    std::string cluster = {};             // Slurm: another one than that of this machine
    [[nodiscard]] std::vector<std::string> all_options() const {
        std::vector<std::string> all = options;
        all.insert(all.end(), node_options.begin(), node_options.end());
        return all;
    }
    [[nodiscard]] bool may_ask(JobPart part) const {
        return std::find(not_asked.begin(), not_asked.end(), part) == not_asked.end();
    }
};

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
    bool suspended = false;   // a running job that its scheduler has stopped for a while
    JobGrant granted = {};    // what the scheduler says that the job may use
    std::int64_t ran_us = 0;  // of a job whose time limit the agent enforces: how long it runs
};

// Says whether `one` describes the job better than `other`, which was reported before it. Two jobs have one
// name if an agent was killed during submission: one of them holds the claim, the other exits at once with
// status
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
    // An error of kind unavailable: there is certainly no job, and a later try may succeed. Only a refusal
    // that names the job's own request is for good.
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

    // Called between the queries of a poll, which take a minute each while a batch system hangs. An error
    // ends the poll.
    base::KeepAlive keep_alive = {};
};

// The login name of the user who runs this program, as batch systems name the owner of a job.
[[nodiscard]] std::string own_user_name();

// job.sh, the script that a batch system runs. It starts the build script of one attempt in a process group
// of its own and forwards the warning that the job's time is nearly over. The build script knows nothing of
// schedulers. Pure, except for write_job_script.
//
//     Slurm, PBS ─► job.sh ─► script.sh ─► the build
//                     └ on a signal: writes the reason to `cut`, then sends TERM to the whole group;
//                       script.sh still writes its exit record
//
// bash handles a signal only between two commands. job.sh waits for the build in the background, so it
// handles signals at once (sbatch(1), --signal=B:).

inline constexpr std::int64_t min_warning_s = 30;  // before a job's time limit
inline constexpr std::int64_t max_warning_s = 5 * 60;

struct JobScriptInput {
    const JobRequest& job;
    std::string header;             // the directive lines of the batch system
    std::string_view before_ranks;  // a line that the script needs before it starts ranks
    bool warns_itself = false;  // true: the batch system cannot warn before the end, so job.sh sets an alarm
};
[[nodiscard]] std::string render_job_script(const JobScriptInput& input);

// The job's environment as bash that job.sh sources. The file has mode 0600, because an index URL may contain
// a password. It does not depend on what the batch system passes on, and other users cannot query it.
[[nodiscard]] std::string render_job_environment(const EnvironmentMap& environment);

// How long before its time limit a job is warned: a tenth of the limit, clamped to min_warning_s and
// max_warning_s.
[[nodiscard]] std::int64_t warning_before_end_s(std::int64_t max_walltime_minutes);

// The seconds of its own time after which a job warns itself, where the batch system does not.
[[nodiscard]] std::int64_t alarm_after_s(std::int64_t max_walltime_minutes);

// Writes job.sh and the environment file to the attempt's folder.
[[nodiscard]] base::Status write_job_script(const JobScriptInput& input);

}  // namespace wheelyard::builder
