// Build trees that failed attempts left, kept for a person to look at: no attempt goes on in them. They may
// hold so much in all (work.trees_gib of the site); what failed longest ago goes first. Logs, exit records
// and the journal stay, and so does a wheel that `retry` would offer again.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/advance.hpp"
#include "builder/attempt.hpp"
#include "builder/plan.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Pure: of each task that is not under way and that the plan starts no more the last attempt, if it failed
// and its tree is not known to be gone; what failed longest ago first. An older attempt's tree went when the
// next one began.
[[nodiscard]] std::vector<Attempt*> list_kept_trees(std::vector<Attempt>& attempts, const Plan& plan);

// Pure: which of those go so that at most `max_bytes` stay. What is not measured yet counts nothing.
[[nodiscard]] std::vector<Attempt*> choose_trees_to_remove(const std::vector<Attempt*>& kept,
                                                           std::uint64_t max_bytes);

// Measures the trees that are not measured yet and removes what must go, at most max_trees_per_tick in all;
// for the holder of the agent's lock. Errors: those of the lock and of the journal.
[[nodiscard]] base::Status trim_kept_trees(const AgentParts& parts, const Advance& advance, const Plan& plan,
                                           std::vector<Attempt>& attempts);

}  // namespace wheelyard::builder
