// publish() over a Disk of the caller's: for tests that stop the run at every file operation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "indexer/disk.hpp"
#include "indexer/limits.hpp"
#include "indexer/project_view.hpp"
#include "indexer/publish.hpp"
#include "indexer/touched.hpp"

namespace wheelyard::indexer {

// How a run is carried out, as opposed to what it writes.
struct PublishManner {
    std::size_t bulk_from = bulk_from_projects;
    std::size_t settle_every = projects_a_settling;
    std::size_t rows_a_reading = rows_read_at_once;
    bool look_at_all = false;  // every project and file, as if the tree's serial were lost
    bool pages_anew = false;   // every project's pages; its files only where the tree does not know of them
    RootPages roots = RootPages::all;
    std::uint64_t large_root_bytes = min_late_root_bytes;
    // Told of every project that is looked at, as the catalog has it.
    std::function<void(const ProjectName&, const ProjectView&)> on_view = {};
};

[[nodiscard]] base::Result<PublishReport> publish_with(Disk& disk, const catalog::Catalog& catalog,
                                                       const blobs::BlobStore& blobs,
                                                       const std::filesystem::path& tree,
                                                       const std::vector<std::string>& indexes,
                                                       const base::Clock& clock, const TreeViews& views = {},
                                                       const PublishManner& manner = {});

}  // namespace wheelyard::indexer
