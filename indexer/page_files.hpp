// Pages of one folder on the disk: plain, and compressed beside it (`index.html.gz`, for nginx's gzip_static)
// where the tree has that.
#pragma once

#include <filesystem>
#include <vector>

#include "indexer/disk.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// Writes those whose bytes differ from what is there, in the order given. True: any did.
[[nodiscard]] base::Result<bool> write_pages(Disk& disk, const std::filesystem::path& folder,
                                             std::vector<NamedBytes> pages, bool precompressed);

}  // namespace wheelyard::indexer
