// PBS's words as values: what qstat prints as JSON, what qsub and qstat refuse, and what it means. Pure.
//
// Sources: PBS Professional's reference guide ("Job States", "Job Substates", "Job Exit Status"), and
// recorded answers of a real OpenPBS 23.06 (tests/builder/pbs/).
//
//     {"Jobs":{"2.pbshost":{"Job_Name":"w1ng012h6crvmar","job_state":"F","substate":93,"Exit_status":-29,
//       "resources_used":{"walltime":"00:00:11","cput":"00:00:00","mem":"0kb"},"comment":"…"}}}
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/schedule/scheduler.hpp"
#include "builder/site/site.hpp"
#include "lib/base/process.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder::pbs {

struct Job {
    std::string id;  // "2.pbshost"
    std::string name;
    char state = '?';  // job_state
    std::int64_t substate = 0;
    std::optional<std::int64_t> exit_status;
    std::string comment;
    JobUsage used;
};

// One answer of `qstat -x -f -F json [ID …]`: the jobs, and the ids that the server said it does not know.
struct Answer {
    std::vector<Job> jobs;
    std::set<std::string> unknown;  // as asked for
};
// Errors: "scheduler.unavailable" (no server: nothing is known then), "scheduler.answer", of kind malformed: the
// server answered, and a job's comment or environment spoils the whole JSON.
[[nodiscard]] base::Result<Answer> read_qstat(const base::Finished& finished);

// The ids that `qselect -x -N NAME` prints, one a line, finished jobs among them (qselect(1B)). Errors as
// above.
[[nodiscard]] base::Result<std::vector<std::string>> read_qselect(const base::Finished& finished);

[[nodiscard]] JobView view_of(const Job& job);

// What went wrong with qsub; codes as slurm::judge_refusal.
[[nodiscard]] base::Error judge_refusal(const base::Finished& finished);

// "1:30:00", as -l walltime takes it.
[[nodiscard]] std::string walltime(std::int64_t minutes);

// The #PBS lines of a job.
[[nodiscard]] std::string render_header(const JobRequest& job, const QueueSettings& of_builds);

}  // namespace wheelyard::builder::pbs
