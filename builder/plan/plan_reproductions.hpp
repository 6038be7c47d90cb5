// The reproductions that a person has requested (`reproduce`) and that are not over. Pure.
#pragma once

#include <vector>

#include "builder/plan/plan_after.hpp"

namespace wheelyard::builder {

// Appends a cell for each of them: active, or wanted again after a failure that may pass. Its request is its first
// attempt, so the site file has nothing about it.
[[nodiscard]] std::vector<Cell> with_reproductions(std::vector<Cell> plan, const PlanInput& input);

}  // namespace wheelyard::builder
