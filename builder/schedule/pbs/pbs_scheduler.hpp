// Jobs through PBS's own programs: qsub, qstat, qdel. pbs.hpp parses their output.
//
//     submit   writes job.sh to the attempt's folder, runs qsub, writes the job id to `job_id`
//     poll     one qstat for all jobs that wait or run, then one for each of the others; qselect finds the
//              jobs of an attempt without an id (its agent was killed during qsub) by name
//     cancel   qdel of its id and of all jobs with its name
//
// A server without job history (OpenPBS's default) forgets a job when it ends: without an exit record, the cause of the
// end is then unknown.
#pragma once

#include "builder/schedule/batch_command.hpp"
#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/scheduler.hpp"

namespace wheelyard::builder {

class PbsScheduler final : public Scheduler {
  public:
    PbsScheduler(QueueSettings settings, EnvironmentMap agent, BatchRunner run = run_batch_command)
        : settings_(std::move(settings)), agent_(std::move(agent)), run_(std::move(run)) {}

    // Errors: those of pbs::judge_refusal.
    [[nodiscard]] base::Status submit(const JobRequest& job) override;
    [[nodiscard]] std::map<std::string, JobView> poll(
        const std::map<std::string, AttemptFolder>& attempts) override;
    [[nodiscard]] base::Status cancel(const std::string& attempt, const AttemptFolder& folder) override;
    [[nodiscard]] bool is_batch_system() const override { return true; }

  private:
    [[nodiscard]] base::Result<base::Finished> ask(std::vector<std::string> argv) const;
    [[nodiscard]] base::Result<pbs::Answer> qstat(const std::vector<std::string>& arguments) const;
    [[nodiscard]] base::Result<std::vector<std::string>> ids_of(const std::string& attempt) const;
    [[nodiscard]] JobView look_at(const std::string& attempt, const AttemptFolder& folder) const;

    QueueSettings settings_;
    EnvironmentMap agent_;
    BatchRunner run_;
    mutable bool has_history_ = true;  // until the server says otherwise
};

}  // namespace wheelyard::builder
