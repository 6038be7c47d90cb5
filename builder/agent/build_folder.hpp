// Where an attempt builds: WORK/trees/PACKAGE-N. Compilers and compiler caches see the path of the tree, so
// builds of one package get the same path as long as they run one after another: a second Python then finds
// in the cache even what names its own path, and a reproduction makes the same bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"

namespace wheelyard::builder {

// Says whether a job still runs in this tree: one that its scheduler lost, for example.
using IsBusyTree = std::function<bool(const std::string& tree)>;

// The tree for a new attempt: that of the attempt which it continues; the one of the build that it
// reproduces, if free; else the PACKAGE-N with the lowest free N. A tree is taken while an attempt at another
// cell runs in it, may continue in it, or keeps it for a person. Pure but for `is_busy`.
[[nodiscard]] std::string choose_tree(const Attempt& attempt, const std::vector<Attempt>& attempts,
                                      const IsBusyTree& is_busy);

}  // namespace wheelyard::builder
