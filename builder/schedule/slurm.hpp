// Slurm's words as values: what squeue, sacct and sbatch print, and what it means. Pure.
//
// Sources: squeue(1), sacct(1), sbatch(1) of Slurm 22.05 ("JOB STATE CODES", "JOB REASON CODES"), and what a
// real 22.05.8 printed (tests/builder/slurm_test.cpp has the lines).
//
//     squeue -O "JobID:|,Name:|,State:|,Reason:|,exit_code:|,TimeUsed:|,NodeList:|"
//     14|w1ng012h6crvmar|PREEMPTED|None|15|0:01|node7|
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/schedule/scheduler.hpp"
#include "builder/site/site.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder::slurm {

struct Job {
    std::string id;
    std::string name;
    std::string state;             // "RUNNING"
    std::string reason;            // "TimeLimit"
    std::optional<int> exit_code;  // 128 + signal when killed by one; nullopt: Slurm's own trouble, or none
    std::string node;
    JobUsage used;
    bool by_signal = false;  // exit_code tells of one, not of a script that said 137 itself
};

inline constexpr std::string_view squeue_format =
    "JobID:|,Name:|,State:|,Reason:|,exit_code:|,TimeUsed:|,NodeList:|";
inline constexpr std::string_view sacct_format =
    "JobIDRaw,JobName,State,Reason,ExitCode,ElapsedRaw,TotalCPU,MaxRSS,NodeList";

// Errors: "scheduler.answer" (a line that is none of ours: nothing is known then).
[[nodiscard]] base::Result<std::vector<Job>> parse_squeue(std::string_view text);
// The steps' MaxRSS ends up in their job, the largest of them.
[[nodiscard]] base::Result<std::vector<Job>> parse_sacct(std::string_view text);

[[nodiscard]] JobView view_of(const Job& job);

// What went wrong with sbatch, from its standard error:
//     "scheduler.not_now"   there is certainly no job, and a later try may succeed
//     "scheduler.unsure"    there may be a job: ask for its name
//     "scheduler.refused"   Slurm will never take this request
[[nodiscard]] base::Error judge_refusal(std::string_view standard_error);

// The #SBATCH lines of a job.
[[nodiscard]] std::string render_header(const JobRequest& job, const QueueSettings& of_builds);

}  // namespace wheelyard::builder::slurm
