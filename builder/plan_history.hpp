// What the attempts of one task say of its cell. Pure.
#pragma once

#include <string>
#include <vector>

#include "builder/plan.hpp"

namespace wheelyard::builder {

// Attempts that `retry` or `retest` superseded do not count.
struct TaskHistory {
    const Attempt* last =
        nullptr;  // by number: the order of ids is that of clocks, and those of two login nodes differ
    int failures = 0;
};
[[nodiscard]] TaskHistory history_of(const std::string& task, const std::vector<Attempt>& attempts);

// Names the last attempt in the cell; true, with state and reason: it is under way.
[[nodiscard]] bool judge_active(Cell& cell, const TaskHistory& history);

// Wanted, for the reason `why` or for another try; or given up.
void judge_failures(Cell& cell, const TaskHistory& history, int most_attempts, const std::string& why);

}  // namespace wheelyard::builder
