// Slurm's output as values: what squeue, sacct and sbatch print, and what it means. Pure.
//
// Sources: squeue(1), sacct(1), sbatch(1) of Slurm 22.05 ("JOB STATE CODES", "JOB REASON CODES"), and the
// output of a real 22.05.8 (the lines are in tests/builder/schedule/slurm/slurm_test.cpp).
//
//     squeue -O "JobID:|,Name:|,State:|,Reason:|,exit_code:|,TimeUsed:|,NodeList:|,RestartCnt:|,TimeLimit:|"
//     14|w1ng012h6crvmar|PREEMPTED|None|15|0:01|node7|0|30:00|
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/schedule/batch_survey.hpp"
#include "builder/schedule/job_trial.hpp"
#include "builder/schedule/scheduler.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder::slurm {

// Variables that locate slurmctld and authenticate the user.
inline constexpr std::array<std::string_view, 3> server_variables = {"SLURM_CONF", "SLURM_CLUSTERS",
                                                                     "MUNGE_SOCKET"};
// Beginnings of the variables that change what Slurm's programs print, or add options to a job.
inline constexpr std::array<std::string_view, 5> output_variables = {"SQUEUE_", "SACCT_", "SBATCH_",
                                                                     "SCANCEL_", "SLURM_TIME_FORMAT"};
// A line of every script whose job runs srun.
inline constexpr std::string_view keep_environment =
    "unset SLURM_EXPORT_ENV # otherwise srun would not pass this environment to the ranks\n";

struct Job {
    std::string id;
    std::string name;
    std::string state;             // "RUNNING"
    std::string reason;            // "TimeLimit"
    std::optional<int> exit_code;  // 128 + signal; nullopt: none, or an internal code of Slurm's
    std::string node;
    JobUsage used;
    bool by_signal = false;  // a signal ended the job (a script can also exit with 137)
    bool step_out_of_memory = false;
    std::uint64_t restarts = 0;  // how often it was queued again after a start
    JobGrant granted;            // its time limit
};

inline constexpr std::string_view squeue_format =
    "JobID:|,Name:|,State:|,Reason:|,exit_code:|,TimeUsed:|,NodeList:|,RestartCnt:|,TimeLimit:|";
inline constexpr std::string_view sacct_format =
    "JobIDRaw,JobName,State,Reason,ExitCode,ElapsedRaw,TotalCPU,MaxRSS,NodeList";

// Errors: "scheduler.answer" (a line that cannot be parsed, so nothing is known).
[[nodiscard]] base::Result<std::vector<Job>> parse_squeue(std::string_view text);
// A job's memory is the largest MaxRSS of its steps. With --duplicates each run of a job has a row; the job
// is its last run, and the others are its restarts (sacct of 22.05 has no field for them).
[[nodiscard]] base::Result<std::vector<Job>> parse_sacct(std::string_view text);

// `is_claimed`: a job of the attempt has begun to build. Only the first run of an attempt builds, so a job
// that was queued again after that can do nothing: its view has the end "requeued".
[[nodiscard]] JobView view_of(const Job& job, bool is_claimed = false);

// Says whether sbatch's standard error names what the job asks for: the same request will be refused again.
[[nodiscard]] bool names_request(std::string_view standard_error);
// Why sbatch failed, from its standard error:
//     "scheduler.not_now"   certainly no job was created, and a retry may succeed
//     "scheduler.unsure"    a job may have been created: query its name
//     "scheduler.refused"   Slurm will never accept this request
[[nodiscard]] base::Error judge_refusal(std::string_view standard_error);

// The number of the new job: `sbatch --parsable` prints "NUMBER[;CLUSTER]", and a site's wrapper may print
// more around it, or "Submitted batch job NUMBER". Empty: there is none.
[[nodiscard]] std::string parse_submitted(std::string_view standard_output);

// The #SBATCH lines of a job.
[[nodiscard]] std::string render_header(const JobRequest& job, const QueueSettings& of_builds);

// What `sbatch --test-only` printed, and whether it ended well.
[[nodiscard]] TrialAnswer read_trial(bool good, std::string_view printed);
// A quality of service with a limit of time: a line of `sacctmgr show qos format=Name,MaxWall,Flags`.
//     long|2-00:00:00|DenyOnLimit,OverPartQOS
struct Quality {
    std::string name;
    std::int64_t max_minutes = 0;  // 0: no limit
    bool denies = false;  // DenyOnLimit: what exceeds the limit is refused, and does not wait for ever
    bool outranks_partition = false;  // OverPartQOS: its limits come before those of the partition's QOS
};
[[nodiscard]] std::vector<Quality> parse_qualities(std::string_view text);

// Asks Slurm whether it would take a job: `sbatch --test-only`, which submits nothing (sbatch(1)). One that it
// takes is refused here all the same, where a QOS without DenyOnLimit would leave it pending for ever
// (QOSMaxWallDurationPerJobLimit): sacctmgr(1), "Flags", and slurm.conf(5), AccountingStorageEnforce=limits.
[[nodiscard]] TrialAnswer try_job(const std::string& header, const TrialJob& job, const AskMachine& ask);

// What Slurm reports of itself, for `site init`. The parsers are pure.
//
// Sources: sinfo(1), scontrol(1), sacctmgr(1), slurm.conf(5) and gres.conf(5) of Slurm 22.05, and the output
// of a real 22.05.8 (the lines are in tests/builder/schedule/slurm/slurm_survey_test.cpp).
//
//     sinfo: gpu|1|64|2|32|512000|gpu:a100:4(S:0-1)|amd,nvme
inline constexpr std::string_view sinfo_nodes = "sinfo --noheader --exact --format='%R|%D|%c|%X|%Y|%m|%G|%f'";

// Lines that cannot be parsed are left out.
[[nodiscard]] std::vector<NodeSurvey> parse_sinfo_nodes(std::string_view text);
// `scontrol --oneliner show partition`.
[[nodiscard]] std::vector<QueueSurvey> parse_partitions(std::string_view text, const SurveyUser& user);
// The accounts of `sacctmgr --parsable2 show associations`, one a line, each once.
[[nodiscard]] std::vector<std::string> parse_accounts(std::string_view text);
// "4-12:00:00", "120", "UNLIMITED" in minutes, rounded down; 0: no limit.
[[nodiscard]] std::int64_t parse_limit_minutes(std::string_view text);

// nullopt: this machine has no Slurm, or it does not answer.
[[nodiscard]] std::optional<BatchSurvey> survey(const SurveyUser& user, const AskMachine& ask);

}  // namespace wheelyard::builder::slurm
