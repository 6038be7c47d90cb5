// Jobs as detached processes of this machine: each in a session of its own, so that they outlive the agent.
//
// A job is known by the claim that its script writes (host, boot, pid, start time), not by the pid that the
// start returned: so an agent killed between start and journal finds its job again, and of two starts the one
// that runs is meant.
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
    // Also sweeps up what a killed script left running in its session.
    [[nodiscard]] base::Status cancel(const std::string& attempt, const AttemptFolder& folder) override;

  private:
    [[nodiscard]] JobView look(const AttemptFolder& folder) const;
    const base::Clock& clock_;
};

}  // namespace wheelyard::builder
