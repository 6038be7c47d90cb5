// The large files of an attempt: its build tree, environments and wheel.
#pragma once

#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// Removes what only the job needed.
[[nodiscard]] base::Status remove_bulk(const Attempt& attempt, const Ports& ports);
// Abandons the interrupted attempt's tree: this attempt builds in its own.
[[nodiscard]] base::Status leave_old_tree(Attempt& attempt, const Ports& ports);

}  // namespace wheelyard::builder
