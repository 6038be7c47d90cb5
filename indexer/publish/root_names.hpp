// Which names a root page has: every project that its index shows and whose page is out.
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
    bool is_whole = true;  // false: it lacks names whose pages could not be written
};

// `report` is that of a run whose project pages are written: its serial, and what it left behind.
[[nodiscard]] base::Result<RootNames> read_root_names(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance, Disk& disk,
                                                      const std::filesystem::path& tree,
                                                      const std::string& index, const PublishReport& report);

}  // namespace wheelyard::indexer
