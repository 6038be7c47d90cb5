// Build trees of failed attempts, kept for inspection by a person: no attempt continues in them. Their total
// size is limited (work.trees_gib of the site); the oldest failure is removed first. Logs, exit records and
// the journal are kept, and so is a wheel that `retry` would upload again.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/agent/agent_parts.hpp"
#include "builder/attempt/attempt.hpp"
#include "builder/plan/plan.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Trees measured or removed: each may take a minute on a slow file system.
inline constexpr int max_trees_per_tick = 4;

// Pure: the last attempt of each cell that is not active and that the plan does not start again, if the
// attempt failed and its tree may still exist; the oldest failure first. An older attempt's tree was removed
// when the next attempt began.
[[nodiscard]] std::vector<Attempt*> list_kept_trees(std::vector<Attempt>& attempts, const Plan& plan);

// Pure: the trees to remove so that at most `max_bytes` remain. A tree that is not measured yet counts as 0
// bytes.
[[nodiscard]] std::vector<Attempt*> choose_trees_to_remove(const std::vector<Attempt*>& kept,
                                                           std::uint64_t max_bytes);

// Measures unmeasured trees and removes the chosen ones, at most max_trees_per_tick in all. The caller holds
// the agent's lock. Errors: those of the lock and of the journal.
[[nodiscard]] base::Status trim_kept_trees(const AgentParts& parts, const Plan& plan,
                                           std::vector<Attempt>& attempts);

}  // namespace wheelyard::builder
