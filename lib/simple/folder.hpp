// A plain folder of wheels and sdists (pip's --find-links) read as a project page.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::simple {

struct PackageFolder {
    ProjectPage page;
    std::vector<std::string> folders;  // names of its subfolders
    std::size_t packages = 0;          // all, also those that were not chosen
};
// Every *.whl, *.tar.gz and *.zip directly in `folder` that `chosen` accepts by its name, sorted by name,
// with file URL and size but no hash. Only chosen files are statted. Errors "simple.folder" (unreadable) and
// "simple.too_many".
[[nodiscard]] base::Result<PackageFolder> read_folder(
    const std::filesystem::path& folder, const std::function<bool(std::string_view filename)>& chosen = {});

}  // namespace wheelyard::simple
