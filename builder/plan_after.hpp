// What follows a cell whose wheel the index has: its tests on hardware, then its promotion into the index for
// everybody. Pure.
#pragma once

#include <vector>

#include "builder/plan.hpp"

namespace wheelyard::builder {

struct PlanInput {
    const Site& site;
    const Recipes& recipes;
    const World& world;
};

// None for a cell without a wheel in the index, and where neither the recipe nor the site asks for any.
[[nodiscard]] std::vector<Cell> cells_after(const Cell& cell, const PlanInput& input);

}  // namespace wheelyard::builder
