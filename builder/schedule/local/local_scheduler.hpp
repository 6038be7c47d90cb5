// Runs jobs as detached processes on this machine, each in its own session, so that they outlive the agent.
// What a job leaves behind ends with it (lib/base/process/process.hpp).
//
// A job is identified by the claim that its script writes (host, boot, pid, start time), not by the pid that
// the start returned. So an agent that was killed between the start and the journal entry finds its job
// again, and if a job was started twice, the claim names the process that runs.
#pragma once

#include <functional>
#include <utility>

#include "builder/schedule/scheduler.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::builder {

// Microseconds since this machine started: nobody sets it (CLOCK_BOOTTIME of clock_gettime(2)).
[[nodiscard]] std::int64_t uptime_us();

class LocalScheduler final : public Scheduler {
  public:
    // `uptime`: from which follows how long a job runs, whatever the clock says.
    explicit LocalScheduler(const base::Clock& clock, std::function<std::int64_t()> uptime = uptime_us)
        : clock_(clock), uptime_(std::move(uptime)) {}
    [[nodiscard]] base::Status submit(const JobRequest& job) override;
    [[nodiscard]] std::map<std::string, JobView> poll(
        const std::map<std::string, AttemptFolder>& attempts) override;
    [[nodiscard]] base::Status ask_to_end(const std::string& attempt, const AttemptFolder& folder) override;
    // Kills the whole session, including processes that outlive a killed script.
    [[nodiscard]] base::Status cancel(const std::string& attempt, const AttemptFolder& folder) override;

  private:
    [[nodiscard]] JobView look(const AttemptFolder& folder) const;
    const base::Clock& clock_;
    std::function<std::int64_t()> uptime_;
};

}  // namespace wheelyard::builder
