// The large files of an attempt: its build tree, environments and wheel.
#pragma once

#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// What cannot be removed stays and is no error: it only uses space. Errors: those of `ports.keep_alive`.

// Removes what only the job needed.
[[nodiscard]] base::Status remove_bulk(const Attempt& attempt, const Ports& ports);
// Removes the tree that the attempt was to continue: it builds from the beginning, at the same place.
[[nodiscard]] base::Status leave_old_tree(Attempt& attempt, const Ports& ports);

}  // namespace wheelyard::builder
