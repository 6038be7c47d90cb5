// A plain folder of wheels and sdists (pip's --find-links) read as a project page.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::simple {

// Every *.whl, *.tar.gz and *.zip that lies directly in `folder`, sorted by name, with a file URL and its
// size and without a hash. Errors "simple.folder" (it cannot be read) and "simple.too_many".
[[nodiscard]] base::Result<ProjectPage> read_folder(const std::filesystem::path& folder);

}  // namespace wheelyard::simple
