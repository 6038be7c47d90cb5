// PBS's output as values: the JSON of qstat, the refusals of qsub and qstat, and what they mean. Pure.
//
// Sources: the PBS Professional Reference Guide ("Job States", "Job Substates", "Job Exit Status"), and
// recorded answers of a real OpenPBS 23.06 (tests/builder/schedule/data/pbs/).
//
//     {"Jobs":{"2.pbshost":{"Job_Name":"w1ng012h6crvmar","job_state":"F","substate":93,"Exit_status":-29,
//       "resources_used":{"walltime":"00:00:11","cput":"00:00:00","mem":"0kb"},"comment":"…"}}}
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/schedule/batch_survey.hpp"
#include "builder/schedule/job_trial.hpp"
#include "builder/schedule/scheduler.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder::pbs {

// Variables that locate the server.
inline constexpr std::array<std::string_view, 4> server_variables = {"PBS_CONF_FILE", "PBS_EXEC",
                                                                     "PBS_DEFAULT", "PBS_SERVER"};
// Beginnings of the variables that change what PBS's programs print.
inline constexpr std::array<std::string_view, 1> output_variables = {"QSTAT_"};

struct Job {
    std::string id;  // "2.pbshost"
    std::string name;
    std::string owner;  // Job_Owner without its host; empty: not reported
    char state = '?';   // job_state
    std::int64_t substate = 0;
    std::optional<std::int64_t> exit_status;
    std::string comment;
    JobUsage used;
    std::int64_t runs = 0;       // run_count: how often it was started
    std::int64_t max_cpu_s = 0;  // Resource_List.cput; 0: no limit
    JobGrant granted;            // Resource_List
};

// The answer to `qstat -x -f -F json [ID …]`: the jobs, and the ids that the server does not know.
struct Answer {
    std::vector<Job> jobs;
    std::set<std::string> unknown;  // as in the request
};
// Errors: "scheduler.unavailable" (no answer from the server, so nothing is known); "scheduler.answer", kind
// malformed (the server answered, but not with valid JSON: a job's comment or environment can break the whole
// document).
[[nodiscard]] base::Result<Answer> read_qstat(const base::Finished& finished);

// The ids that `qselect -x -N NAME` prints, one per line, including finished jobs (qselect(1B)). Errors: as
// read_qstat.
[[nodiscard]] base::Result<std::vector<std::string>> read_qselect(const base::Finished& finished);

// Says whether a command failed because the server keeps no job history (job_history_enable, off by default).
[[nodiscard]] bool lacks_history(const base::Finished& finished);

// `is_claimed`: a job of the attempt has begun to build. Only the first run of an attempt builds, so a job
// that was started before and waits again (a forced qrerun, a preemption) can do nothing: its view has the
// end "requeued".
[[nodiscard]] JobView view_of(const Job& job, bool is_claimed = false);

// Why qsub failed; codes as slurm::judge_refusal. A site's hooks refuse with any text, so only the messages
// of a table are about the request.
[[nodiscard]] base::Error judge_refusal(const base::Finished& finished);

// The argument of -l walltime: "1:30:00".
[[nodiscard]] std::string walltime(std::int64_t minutes);

// The #PBS lines of a job.
[[nodiscard]] std::string render_header(const JobRequest& job, const QueueSettings& of_builds);

// What PBS says of a job before it is submitted. qsub has no dry run, so the limits of the queue and the
// sizes of the nodes are compared. `printed`: `qstat -Q -f QUEUE`, the attributes `enabled`, `started` and
// `resources_max.NAME`.
[[nodiscard]] TrialAnswer read_trial(std::string_view printed, const TrialJob& job);

// Says whether enough nodes of the queue are as large as a chunk of the job, also nodes that are down.
// `printed`: as above; `nodes`: `pbsnodes -av`.
[[nodiscard]] TrialAnswer compare_with_nodes(std::string_view printed, std::string_view nodes,
                                             const TrialJob& job);

// The resources of each chunk, as they follow others in `-l select=`: ":gpu_type=a100:jobfs=100gb".
[[nodiscard]] std::string more_of_chunk(const QueueSettings& settings);
[[nodiscard]] TrialAnswer try_job(const std::string& header, const TrialJob& job, const AskMachine& ask);

// `qstat -Q -f`. `default_queue`: that of the server.
[[nodiscard]] std::vector<QueueSurvey> parse_queues(std::string_view text, const SurveyUser& user,
                                                    std::string_view default_queue);
// `pbsnodes -av`, with equal nodes together; memory that differs by less than a GiB is equal.
[[nodiscard]] std::vector<NodeSurvey> parse_nodes(std::string_view text);
// The attribute `name` of `qstat -B -f`; empty: not set.
[[nodiscard]] std::string parse_server_attribute(std::string_view text, std::string_view name);

// What the queue of a job allows, and those that it routes to: "small: walltime = 01:00:00, ncpus = 4; large:
// …". `printed`: `qstat -Q -f`. Empty: it says nothing of this queue.
[[nodiscard]] std::string describe_limits(std::string_view printed, const std::string& queue);

// nullopt: this machine has no PBS, or it does not answer. Programs of the same names that belong to another
// batch system are not PBS.
[[nodiscard]] std::optional<BatchSurvey> survey(const SurveyUser& user, const AskMachine& ask);

}  // namespace wheelyard::builder::pbs
