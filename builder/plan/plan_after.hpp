// The cells that follow a published wheel: its tests on hardware, then its promotion into the index for everybody.
// Pure.
#pragma once

#include <vector>

#include "builder/plan/plan.hpp"

namespace wheelyard::builder {

struct PlanInput {
    const Site& site;
    const Recipes& recipes;
    const World& world;
};

// Inserts tests and promotion after each cell of `plan` whose wheel the index has, as far as recipe and site request
// them. A promotion waits for the tests of every cell that uses the same wheel (for example a pure wheel), and for
// its set (promotion_sets.hpp).
[[nodiscard]] std::vector<Cell> with_followups(std::vector<Cell> plan, const PlanInput& input);

}  // namespace wheelyard::builder
