// The outcome of a claimed task, once its cell in the plan is settled. A task whose wheel is uploaded to the
// site's own index is settled after the wheel's hardware tests and its promotion. A task whose wheel is
// uploaded to a staging index is settled by the upload: others test and promote that wheel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/attempt/claim_record.hpp"
#include "builder/attempt/journal.hpp"
#include "builder/plan/plan.hpp"
#include "builder/site/site.hpp"
#include "lib/base/clock.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::builder {

// nullopt: not settled. Reads an attempt's outcome from the journal.
[[nodiscard]] std::optional<wire::Outcome> task_outcome(const ClaimRecord& record, const Plan& plan,
                                                        const World& world, const Site& site,
                                                        const Journal& journal, base::UnixMicros now);

// The names of a cell and of the tests and promotion that follow its wheel, in order.
[[nodiscard]] std::vector<std::string> names_of(const std::string& cell);

// The claimed task to which this name (as in names_of) belongs; nullptr: none.
[[nodiscard]] const wire::Task* claimed_task_of(const std::vector<ClaimRecord>& records,
                                                const std::string& name);

}  // namespace wheelyard::builder
