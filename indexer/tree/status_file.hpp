// TREE/<index>/status.json: the status of an index for its readers (lib/status/index_status.hpp). It is not part of a
// publish run; the next run shows it in the web UI.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// Replaces the file atomically, if it differs. True: it did. One process of a tree writes this file. An error if the tree
// does not have the index: it may just have become private.
[[nodiscard]] base::Result<bool> write_status_file(Disk& disk, const std::filesystem::path& tree,
                                                   const std::string& index, std::string_view document);

}  // namespace wheelyard::indexer
