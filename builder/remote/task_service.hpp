// What the agent asks of a registry's task service (docs/reference/task.md). An interface, so that tests can
// refuse, lose answers and disappear.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "builder/remote/registry.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

// The registry's answer with the code of a problem, as an error with its kind: lost ("task.lease_over": another claim
// may have the task), missing (the task or the claim is gone for good), other.
[[nodiscard]] base::Error task_refusal(base::Error answer);

// Errors: of task_refusal, "task.unavailable" for what may pass, or "http.*".
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
    // The index that the wheel of a claim goes to, and uploads by its grant. The grant is asked for when it
    // is needed, by the same claim again, and written nowhere. The service outlives it.
    [[nodiscard]] virtual std::unique_ptr<Registry> uploads_of(const wire::ClaimOffer& again,
                                                               const std::string& index) = 0;
};

}  // namespace wheelyard::builder
