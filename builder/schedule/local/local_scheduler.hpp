// Runs jobs as detached processes on this machine, each in its own session, so that they outlive the agent.
// What a job leaves behind ends with it (lib/base/process/process.hpp).
//
// A job is identified by the claim that its script writes (host, boot, pid, start time), not by the pid that
// the start returned. So an agent that was killed between the start and the journal entry finds its job
// again, and if a job was started twice, the claim names the process that runs.
#pragma once

#include "builder/schedule/scheduler.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::builder {

class LocalScheduler final : public Scheduler {
  public:
    explicit LocalScheduler(const base::Clock& clock) : clock_(clock) {}
    [[nodiscard]] base::Status submit(const JobRequest& job) override;
    [[nodiscard]] std::map<std::string, JobView> poll(
        const std::map<std::string, AttemptFolder>& attempts) override;
    [[nodiscard]] base::Status ask_to_end(const std::string& attempt, const AttemptFolder& folder) override;
    // Kills the whole session, including processes that outlive a killed script.
    [[nodiscard]] base::Status cancel(const std::string& attempt, const AttemptFolder& folder) override;

  private:
    [[nodiscard]] JobView look(const AttemptFolder& folder) const;
    const base::Clock& clock_;
};

}  // namespace wheelyard::builder
