// The cells beside those of the wanted builds: what follows a published wheel, its tests on hardware and then its
// promotion into the index for everybody, and reproductions. Pure.
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
// its set.
[[nodiscard]] std::vector<Cell> with_tests_and_promotions(std::vector<Cell> plan, const PlanInput& input);

// The promotion of a package and of everything that is built against it, in one request: users never see a part of the
// set. Once every wheel of a set passed its tests, the promotion of one of them is wanted and has the others in `with`;
// the package that the others are built against comes first. Until then the promotions of the set are held; if one of
// its cells needs a person, they are impossible, with that cell and its reason. `cells`: each build, followed by its
// tests and its promotion.
void promote_as_sets(std::vector<Cell>& cells, const RegistrySettings& registry);

// Appends a cell for each reproduction that a person has requested (`reproduce`) and that is not over: active, or wanted
// again after a failure that may pass. Its request is its first attempt, so the site file has nothing about it.
[[nodiscard]] std::vector<Cell> with_reproductions(std::vector<Cell> plan, const PlanInput& input);

}  // namespace wheelyard::builder
