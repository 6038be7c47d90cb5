// Everything that the builder knows of one kind of scheduler: a row of the table in scheduler_kind.cpp. Each
// row lies in the folder of its scheduler; no other code knows the name of one.
//
//     scheduler.kind of site.toml ──► find_scheduler_kind ──► Site::scheduler ──► the row's fields and functions
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/attempt/job_end.hpp"
#include "builder/schedule/batch_survey.hpp"
#include "builder/schedule/job_trial.hpp"
#include "builder/schedule/scheduler.hpp"

namespace wheelyard::base {
class Clock;
}

namespace wheelyard::builder {

class Scheduler;
struct JobRequest;

// A job of a user, not of the agent.
struct UserJob {
    std::string name;
    int nodes = 1;
    int ranks_per_node = 1;
    int cores_per_node = 0;  // that the node has; 0: not known
    int gpus_per_node = 0;
    int cores_per_rank = 0;       // asked for; 0: not asked for
    std::int64_t memory_mib = 0;  // of a node; 0: not asked for
    std::int64_t max_walltime_minutes = 0;
    QueueSettings queue;  // the options of the site, then those of the user
};

// Variables that the scheduler's launcher sets for each rank of a job; empty: none of its own.
struct RankVariables {
    std::string_view rank, size, local_rank;
};

// How the scheduler reports one cause, for docs/reference/schedulers.md.
struct EndReport {
    EndCause cause;
    std::string_view text;
};

// What only a scheduler has that runs jobs through another program.
struct BatchSystem {
    std::string_view submit;     // the program that takes a script: "sbatch"
    std::string_view queue_key;  // the key of [scheduler] in site.toml that names a queue: "partition"
    // Variables that locate the server and authenticate the user: sbatch and qsub get them, and so does cron.
    std::span<const std::string_view> server_variables;
    // The variable that names another cluster to all of its programs, and the options that name it to one
    // alone; empty: it has none.
    std::string_view cluster_variable = {};
    std::span<const std::string_view> cluster_options = {};
    bool has_chunks = false;  // it asks for the resources of a node in one word: QueueSettings::chunk
    // The directive lines of a job.
    std::string (*render_header)(const JobRequest&, const QueueSettings& of_builds);
    std::string (*render_user_header)(const UserJob&);
    // Says whether its programs work, and have the queue and the resources that the site asks for.
    std::vector<SiteLine> (*check)(const QueueSettings&, bool asks_for_gpus, const AskMachine&);
    // Says whether it would take a job with these directive lines, for `site check`; job_trial.hpp.
    TrialAnswer (*try_job)(const std::string& header, const TrialJob&, const AskMachine&);
    // What it reports of itself, for `site init`; nullopt: it is not on this machine.
    std::optional<BatchSurvey> (*survey)(const SurveyUser&, const AskMachine&);
    std::span<const EndReport> end_reports;
    std::span<const MachineQuestion> questions;  // for the report of `site check`

    // How a user's job reads its place, in bash.
    std::string_view job_id_variable;     // "SLURM_JOB_ID"
    std::string_view node_list_variable;  // "SLURM_JOB_NODELIST"
    std::string_view print_first_node;    // a command that reads it
    RankVariables ranks = {};
    std::string_view launcher = {};      // the usual mpi.launcher; empty: that of the MPI
    std::string_view before_ranks = {};  // a line that every script needs before it starts ranks
    // Copies $packed to $local.tar on every node; empty: each node reads $packed.
    std::string_view copy_to_nodes = {};
    // The option that asks for GPUs of a node, where render_user_header does not; empty: it does.
    std::string_view gpus_option = {};
};

struct SchedulerKind {
    std::string_view name;      // scheduler.kind in site.toml
    std::string_view a_job_is;  // for docs/reference/schedulers.md: "a batch job"
    std::string_view programs;  // the same: "`sbatch`, `squeue`"
    std::unique_ptr<Scheduler> (*make)(const QueueSettings&, const EnvironmentMap& agent, const base::Clock&);
    std::optional<BatchSystem> batch = {};  // nullopt: jobs are processes of this machine
};

// The first one is the default.
[[nodiscard]] std::span<const SchedulerKind* const> scheduler_kinds();
// nullptr: there is none of this name.
[[nodiscard]] const SchedulerKind* find_scheduler_kind(std::string_view name);

}  // namespace wheelyard::builder
