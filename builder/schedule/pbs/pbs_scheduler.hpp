// Jobs through PBS's own programs: qsub, qstat, qdel. pbs.hpp parses their output.
//
//     submit   writes job.sh to the attempt's folder, runs qsub, writes the job id to `job_id`
//     poll     one qstat for each job: given several ids, a real `qstat -F json` reports only the first one
//              (tests/builder/schedule/data/pbs/qstat_several_json.txt), and given none, the jobs of the whole machine.
//              qselect finds the jobs of an attempt without an id (its agent was killed during qsub) by name
//     cancel   qdel of its id and of all jobs with its name
//
// Another user may give a job the same name: only those of this user count.
//
// A server without job history (OpenPBS's default) forgets a job when it ends: without an exit record, the
// cause of the end is then unknown.
#pragma once

#include "builder/schedule/batch_command.hpp"
#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/scheduler.hpp"

namespace wheelyard::builder {

class PbsScheduler final : public Scheduler {
  public:
    PbsScheduler(QueueSettings settings, EnvironmentMap agent, BatchRunner run = run_batch_command,
                 std::string user = own_user_name())
        : settings_(std::move(settings)),
          agent_(std::move(agent)),
          run_(std::move(run)),
          user_(std::move(user)) {}

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
    [[nodiscard]] std::optional<JobView> find_view(const pbs::Answer& answer, const std::string& attempt,
                                                   const std::string& id, const AttemptFolder& folder) const;
    // `unreachable`: why the server does not answer; set by the first query that shows it.
    [[nodiscard]] JobView look_at(const std::string& attempt, const AttemptFolder& folder,
                                  std::string& unreachable) const;
    [[nodiscard]] JobView view_of_dropped(const std::string& id, const AttemptFolder& folder) const;

    QueueSettings settings_;
    EnvironmentMap agent_;
    BatchRunner run_;
    std::string user_;
    mutable bool has_history_ = true;  // until the server says otherwise
};

}  // namespace wheelyard::builder
