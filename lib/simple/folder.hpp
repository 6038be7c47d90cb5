// A plain folder of wheels and sdists (pip's --find-links) read as a project page.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::simple {

// Every *.whl, *.tar.gz and *.zip directly in `folder`, sorted by name, with file URL and size but no hash.
// Errors "simple.folder" (unreadable) and "simple.too_many".
[[nodiscard]] base::Result<ProjectPage> read_folder(const std::filesystem::path& folder);

}  // namespace wheelyard::simple
