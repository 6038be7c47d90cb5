// publish() with the caller's Disk, for tests that stop the run at every file operation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/limits.hpp"
#include "indexer/publish/publish.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/disk.hpp"

namespace wheelyard::indexer {

// How a run proceeds. What it writes does not depend on it.
struct PublishSettings {
    std::size_t bulk_from = bulk_from_projects;
    std::size_t flush_every = projects_per_flush;
    std::size_t rows_per_read = rows_read_at_once;
    bool check_everything = false;  // every project and file, as if the tree's serial were lost
    bool rewrite_pages = false;     // every project's pages; files only if the tree does not record them
    RootPages roots = RootPages::all;
    std::uint64_t large_root_bytes = min_late_root_bytes;
    // Called for every project that the run reads, as the catalog has it.
    std::function<void(const ProjectName&, const ProjectView&)> on_view = {};
};

[[nodiscard]] base::Result<PublishReport> publish_with(Disk& disk, const catalog::Catalog& catalog,
                                                       const blobs::BlobStore& blobs,
                                                       const std::filesystem::path& tree,
                                                       const std::vector<std::string>& indexes,
                                                       const base::Clock& clock, const TreeViews& views = {},
                                                       const PublishSettings& settings = {});

}  // namespace wheelyard::indexer
