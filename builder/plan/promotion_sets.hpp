// The promotion of a package and of everything that is built against it, in one request: users never see a part of the
// set. Pure.
#pragma once

#include <vector>

#include "builder/plan/plan.hpp"

namespace wheelyard::builder {

// Once every wheel of a set passed its tests, the promotion of one of them is wanted and has the others in `with`; the
// package that the others are built against comes first. Until then the promotions of the set are held; if one of its
// cells needs a person, they are impossible, with that cell and its reason. `cells`: each build, followed by its tests
// and its promotion.
void promote_as_sets(std::vector<Cell>& cells, const RegistrySettings& registry);

}  // namespace wheelyard::builder
