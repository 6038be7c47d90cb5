// The agent's view of a registry's task service (docs/reference/task.md). An interface, so that tests can simulate
// refusals, lost answers and outages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "builder/remote/registry.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

// Sets kind and recovery of an error by the registry's problem code: lost ("task.lease_over": another claim may hold
// the task), missing (the task or the claim no longer exists), other.
[[nodiscard]] base::Error task_refusal(base::Error answer);

// Errors: those of task_refusal, "task.unavailable" for temporary failures, or "http.*".
class TaskService {
  public:
    virtual ~TaskService() = default;
    [[nodiscard]] virtual base::Result<wire::Claimed> claim(const wire::ClaimOffer& offer) = 0;
    [[nodiscard]] virtual base::Result<wire::Lease> renew(const std::string& task,
                                                          const std::string& claim) = 0;
    [[nodiscard]] virtual base::Result<wire::Lease> append_log(const std::string& task,
                                                               const std::string& claim, std::int64_t offset,
                                                               std::string_view bytes) = 0;
    [[nodiscard]] virtual base::Status end(const std::string& task, const wire::TaskEnd& end) = 0;
    // A registry for the index of a claim's wheel; its uploads use the claim's grant. Each upload requests the grant
    // by repeating the claim; nothing stores it. The service must outlive the result.
    [[nodiscard]] virtual std::unique_ptr<Registry> uploads_of(const wire::ClaimOffer& offer,
                                                               const std::string& index) = 0;
};

}  // namespace wheelyard::builder
