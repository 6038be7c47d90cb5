// The agent's view of a registry's task service (docs/reference/task.md). An interface, so that tests can
// simulate refusals, lost answers and outages.
#pragma once

#include <memory>
#include <string>

#include "builder/remote/registry.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/outcome.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

// Sets kind and recovery of an error by the registry's problem code: lost ("task.lost": the site was late),
// missing (the task no longer exists), other.
[[nodiscard]] base::Error task_refusal(base::Error answer);

// Errors: those of task_refusal, "task.unavailable" for temporary failures, or "http.*".
class TaskService {
  public:
    virtual ~TaskService() = default;
    // All tasks that the site has from now on; repeated, it answers the same.
    [[nodiscard]] virtual base::Result<wire::Claimed> claim(const wire::ClaimOffer& offer) = 0;
    [[nodiscard]] virtual base::Status end(const std::string& task, const wire::Outcome& outcome) = 0;
    // A registry for the index that gets the task's wheel. The service must outlive the result.
    [[nodiscard]] virtual std::unique_ptr<Registry> uploads_to(const std::string& index,
                                                               const std::string& task) = 0;
};

}  // namespace wheelyard::builder
