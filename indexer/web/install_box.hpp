// The box of a project page with the line that installs it: for a node type and a Python, each of which
// decides which version is the newest that runs.
#pragma once

#include <vector>

#include "indexer/web/project_page.hpp"
#include "indexer/web/wheel_facts.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::indexer {

// `wheels`: newest version first.
[[nodiscard]] page::Html render_install(const ProjectPage& page, const std::vector<ShownWheel>& wheels);
// Says whether its version is neither a pre-release nor unreadable.
[[nodiscard]] bool is_final(const catalog::FileRow& row);

}  // namespace wheelyard::indexer
