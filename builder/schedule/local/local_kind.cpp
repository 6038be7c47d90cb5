// The row of jobs that are processes of this machine.
#include "builder/schedule/local/local_scheduler.hpp"
#include "builder/schedule/scheduler_kind.hpp"

namespace wheelyard::builder {
namespace {

std::unique_ptr<Scheduler> make(const QueueSettings& /*settings*/, const EnvironmentMap& /*agent*/,
                                const base::Clock& clock) {
    return std::make_unique<LocalScheduler>(clock);
}

}  // namespace

extern constinit const SchedulerKind local_kind = {
    .name = "local",
    .a_job_is = "a detached process of this machine",
    .programs = "none",
    .make = make,
};

}  // namespace wheelyard::builder
