// What follows the cells whose wheels the index has: its tests on hardware, then its promotion into the index
// for everybody. Pure.
#pragma once

#include <vector>

#include "builder/plan/plan.hpp"

namespace wheelyard::builder {

struct PlanInput {
    const Site& site;
    const Recipes& recipes;
    const World& world;
};

// After each cell of `plan` that the index has a wheel for: its tests, and its promotion, which waits for the
// tests of every cell that the same wheel serves (a pure wheel, say). None where neither the recipe nor the
// site asks for any.
[[nodiscard]] std::vector<Cell> with_what_follows(std::vector<Cell> plan, const PlanInput& input);

}  // namespace wheelyard::builder
