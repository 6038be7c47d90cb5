// Tables of a project page: which wheel there is for which Python and platform, and what each site reports.
#pragma once

#include <string>
#include <vector>

#include "indexer/web/wheel_facts.hpp"

namespace wheelyard::indexer {

// Version × (platform, accelerator); a cell names the Pythons and leads to the wheels' sections. `wheels`: newest
// version first.
[[nodiscard]] page::Html render_wheel_matrix(const std::vector<ShownWheel>& wheels);
// Version × (site, Python, accelerator) with the state of each cell. Empty without cells.
[[nodiscard]] page::Html render_site_matrix(const std::string& project, const FarmReport& report);

}  // namespace wheelyard::indexer
