// Brings the page of --find-links of each index up to date: TREE/<index>/find-links/index.html, one link to
// each file of the index, also where the tree has no folder of links. After the Simple pages and files of the
// same run, and before files leave.
//
// The page has the links of a project together, so an event reads and replaces those of its project.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "indexer/pages/simple_html.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/inheritance.hpp"

namespace wheelyard::indexer {

// Some 33,000 files. An installer reads all of it for each command, and each burst of uploads writes it again:
// a larger page would say instead where the files are.
inline constexpr std::size_t max_flat_page_bytes = 16 * base::mib;

// nullopt: there is none, or it is damaged.
[[nodiscard]] base::Result<std::optional<FlatLinks>> read_flat_page(Disk& disk,
                                                                    const std::filesystem::path& tree,
                                                                    const std::string& index);
// Durable on return.
[[nodiscard]] base::Status write_flat_page(Disk& disk, const std::filesystem::path& tree,
                                           const std::string& index, const FlatLinks& links,
                                           std::size_t limit_bytes = max_flat_page_bytes);

class FlatRun {
  public:
    // The references must outlive this object. `root_url`: of ProjectView.
    FlatRun(Disk& disk, const catalog::Catalog& catalog, const std::filesystem::path& tree,
            const catalog::Inheritance& inheritance, base::KeepAlive keep_alive, std::string root_url,
            std::size_t rows_per_read)
        : disk_(disk),
          catalog_(catalog),
          tree_(tree),
          inheritance_(inheritance),
          keep_alive_(std::move(keep_alive)),
          root_url_(std::move(root_url)),
          rows_per_read_(rows_per_read) {}

    // The events in (after, until], the projects of `again`, and all of `indexes` that have no such page yet.
    [[nodiscard]] base::Status run(catalog::Serial after, catalog::Serial until,
                                   const std::set<ProjectName>& again,
                                   const std::vector<std::string>& indexes);

  private:
    // Touches all of an index whose page must be made anew.
    [[nodiscard]] base::Status open(const std::string& index, bool anew, TouchedProjects& touched);
    [[nodiscard]] base::Status replace_links(TouchedProjects& touched, catalog::Serial until);

    Disk& disk_;
    const catalog::Catalog& catalog_;
    const std::filesystem::path& tree_;
    const catalog::Inheritance& inheritance_;
    base::KeepAlive keep_alive_;
    std::string root_url_;
    std::size_t rows_per_read_;
    std::map<std::string, FlatLinks> pages_;  // those that this run writes
};

}  // namespace wheelyard::indexer
