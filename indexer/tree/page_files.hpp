// Pages of one folder on the disk: plain, and compressed beside it (`index.html.gz`, for nginx's gzip_static)
// where the tree has that.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "indexer/tree/disk.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// Makes the folder, and writes those whose bytes differ from what is there, in the order given. True: any
// did.
[[nodiscard]] base::Result<bool> write_pages(Disk& disk, const std::string& folder,
                                             const std::vector<NamedBytes>& pages, bool precompressed);

// Removes a project's pages, not their folder.
[[nodiscard]] base::Status remove_pages(Disk& disk, const std::filesystem::path& folder);

// The projects of an index that have a folder in the tree, sorted; and those of them that have a page, which
// is what the root names.
[[nodiscard]] base::Result<std::vector<std::string>> names_with_folders(const std::filesystem::path& tree,
                                                                        const std::string& index);
[[nodiscard]] base::Result<std::vector<std::string>> names_with_pages(const std::filesystem::path& tree,
                                                                      const std::string& index);

}  // namespace wheelyard::indexer
