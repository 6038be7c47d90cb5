// publish() with the caller's Disk, for tests that stop the run at every file operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/kept_pages.hpp"
#include "indexer/publish/publish.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/inheritance.hpp"

namespace wheelyard::indexer {

// From this many projects, a run syncs the whole file system instead of file by file …
inline constexpr std::size_t bulk_from_projects = 256;

// … and flushes after this many. Until then each project has up to four temporary files.
inline constexpr std::size_t projects_per_flush = 2'000;

// Rows (files and projects) read per transaction; the last project may exceed it.
inline constexpr std::size_t rows_read_at_once = 250;

// Projects whose compressed copies a tree may lack.
inline constexpr std::size_t max_late_copies = 1'000;

// In a run with RootPages::prompt, root pages from this size (some 5,000 names) are left to a later run:
// every new name rewrites the whole page, and `pip install` reads only the project's page.
inline constexpr std::uint64_t min_late_root_bytes = 256 * base::kib;

// Project pages that a run with RootPages::all writes because a site reports other node types; a later run
// writes more.
inline constexpr std::size_t pages_per_report = 500;

// How a run proceeds. What it writes does not depend on it.
struct PublishSettings {
    std::size_t bulk_from = bulk_from_projects;
    std::size_t flush_every = projects_per_flush;
    std::size_t rows_per_read = rows_read_at_once;
    bool check_everything = false;  // every project and file, as if the tree's serial were lost
    bool rewrite_pages = false;     // every project's pages; files only if the tree does not record them
    RootPages roots = RootPages::all;
    std::uint64_t large_root_bytes = min_late_root_bytes;
    std::size_t projects_per_report = pages_per_report;
    KeptPages* kept = nullptr;  // of earlier runs for the same tree and catalog
    // Called for every project that the run reads, as the catalog has it.
    std::function<void(const ProjectName&, const ProjectView&)> on_view = {};
    PublishProgress progress = {};
};

[[nodiscard]] base::Result<PublishReport> publish_with(Disk& disk, const catalog::Catalog& catalog,
                                                       const blobs::BlobStore& blobs,
                                                       const std::filesystem::path& tree,
                                                       const std::vector<std::string>& indexes,
                                                       const base::Clock& clock, const TreeViews& views = {},
                                                       const PublishSettings& settings = {});

// The names of a root page: every project that its index shows and whose page is published.
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
