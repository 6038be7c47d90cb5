// How a claimed task stands by the plan: whose log tells of it, and its outcome once it is settled. A wheel
// that went into the site's own index is settled when what follows it there is, too: its hardware tests, then
// its promotion. One that went into a staging index is another identity's from there on.
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

struct TaskStanding {
    const Attempt* attempt = nullptr;      // of the world; nullptr: none yet
    std::optional<wire::Outcome> outcome;  // none: not settled
};

// `record`: claimed, not asking. Reads the outcome of an attempt from the journal.
[[nodiscard]] TaskStanding stand_of(const ClaimRecord& record, const Plan& plan, const World& world,
                                    const Site& site, const Journal& journal, base::UnixMicros now);

// Of a cell: its own name in the plan, and those of what follows its wheel, in order.
[[nodiscard]] std::vector<std::string> names_of(const std::string& cell);

// The claimed task that a cell of the plan, or what follows its wheel, is for; nullptr: none.
[[nodiscard]] const wire::Task* claimed_task_of(const std::vector<ClaimRecord>& records,
                                                const std::string& name);

}  // namespace wheelyard::builder
