// Jobs through Slurm's own programs: sbatch, squeue, sacct, scancel. slurm.hpp parses their output.
//
//     submit   writes job.sh to the attempt's folder, runs sbatch; the job's name is the attempt's id
//     poll     one squeue for all names; one sacct for those that squeue does not list any more
//     cancel   scancel by name, so that it also finds a job whose id was not recorded
#pragma once

#include "builder/schedule/batch_command.hpp"
#include "builder/schedule/scheduler.hpp"

namespace wheelyard::builder {

class SlurmScheduler final : public Scheduler {
  public:
    SlurmScheduler(QueueSettings settings, EnvironmentMap agent, BatchRunner run = run_batch_command)
        : settings_(std::move(settings)), agent_(std::move(agent)), run_(std::move(run)) {}

    // Errors: those of slurm::judge_refusal.
    [[nodiscard]] base::Status submit(const JobRequest& job) override;
    [[nodiscard]] std::map<std::string, JobView> poll(
        const std::map<std::string, AttemptFolder>& attempts) override;
    [[nodiscard]] base::Status cancel(const std::string& attempt, const AttemptFolder& folder) override;
    [[nodiscard]] bool is_batch_system() const override { return true; }

  private:
    // The views of those `names` that accounting knows; `attempts` has their folders. Error: accounting
    // cannot be queried.
    [[nodiscard]] base::Result<std::map<std::string, JobView>> ask_accounting(
        const std::vector<std::string>& names, const std::map<std::string, AttemptFolder>& attempts) const;

    QueueSettings settings_;
    EnvironmentMap agent_;
    BatchRunner run_;
};

}  // namespace wheelyard::builder
