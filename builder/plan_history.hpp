// What the attempts of one task say of its cell. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "builder/plan.hpp"

namespace wheelyard::builder {

// How many bounds of a site failures count against: max_attempts, max_preemptions, max_node_failures.
inline constexpr std::size_t failure_bounds = 3;

// Attempts that `retry` or `retest` superseded do not count.
struct TaskHistory {
    const Attempt* last =
        nullptr;  // by number: the order of ids is that of clocks, and those of two login nodes differ
    std::array<int, failure_bounds> failures = {};  // against each bound
};
[[nodiscard]] TaskHistory history_of(const std::string& task, const std::vector<Attempt>& attempts);

// Names the last attempt in the cell; true, with state and reason: it is under way.
[[nodiscard]] bool judge_active(Cell& cell, const TaskHistory& history);

// Wanted, for the reason `why` or for another try; or given up.
void judge_failures(Cell& cell, const TaskHistory& history, const Site& site, const std::string& why);

}  // namespace wheelyard::builder
