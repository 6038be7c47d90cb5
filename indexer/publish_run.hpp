// publish() over a Disk of the caller's: for tests that stop the run at every file operation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "indexer/disk.hpp"
#include "indexer/publish.hpp"

namespace wheelyard::indexer {

[[nodiscard]] base::Result<PublishReport> publish_with(Disk& disk, const catalog::Catalog& catalog,
                                                       const blobs::BlobStore& blobs,
                                                       const std::filesystem::path& tree,
                                                       const std::vector<std::string>& indexes,
                                                       const base::Clock& clock);

}  // namespace wheelyard::indexer
