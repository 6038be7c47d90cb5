// The names of a root page: every project that its index shows and whose page is published.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "indexer/publish/publish.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/catalog/inheritance.hpp"

namespace wheelyard::indexer {

struct RootNames {
    std::vector<std::string> projects;
    bool is_whole = true;  // false: lacks names whose pages could not be written
};

// `report`: of a run that has written its project pages; supplies the serial and the lagging projects.
[[nodiscard]] base::Result<RootNames> read_root_names(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance, Disk& disk,
                                                      const std::filesystem::path& tree,
                                                      const std::string& index, const PublishReport& report);

}  // namespace wheelyard::indexer
