// Names that people type for a cell or an attempt: any part that only one of them has.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"

namespace wheelyard::builder {

// The cell or attempt id that `name` means among the attempts that `counts` accepts and the cells of the
// plan, if they are given: itself if it is one, otherwise the only cell of the project of this name, else the
// only cell, with its label or without, or the only id, that contains it, where `-`, `_` and `.` are one. A
// name that nothing contains is returned as it is. Error "name.ambiguous" with the cells that contain it.
[[nodiscard]] base::Result<std::string> complete_name(
    const std::string& name, const std::vector<Attempt>& attempts,
    const std::function<bool(const Attempt&)>& counts = [](const Attempt&) { return true; },
    const std::vector<std::string>& planned = {});

}  // namespace wheelyard::builder
