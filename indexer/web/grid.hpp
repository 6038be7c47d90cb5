// The table of a project page: version × Python, each cell with its wheels and what sites report of it. project.js narrows it
// to the chosen machine.
#pragma once

#include <string>
#include <vector>

#include "indexer/web/shown_project.hpp"
#include "indexer/web/wheel_facts.hpp"

namespace wheelyard::indexer {

// `wheels`: newest version first. Empty without wheels and cells.
[[nodiscard]] page::Html render_grid(const std::string& project, const std::vector<ShownWheel>& wheels,
                                     const FarmReport& report);

}  // namespace wheelyard::indexer
