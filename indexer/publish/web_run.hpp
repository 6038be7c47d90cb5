// Brings the web UI of a tree up to date (view "pages"), after the Simple pages and files of the same run.
//
//     TREE/<index>/project/<name>/feed.xml, index.html   of each project that events since the last time touch
//     TREE/<index>/project/search.name=….json, …         what the search knows of these projects, after their pages
//     TREE/<index>/project/search.json, feed.xml,        of each index, after those
//                          index.html
//     TREE/<index>/builds/index.html, feed.xml           what sites report; .shown: what of it the project pages show
//     TREE/<index>/site/index.html                       its sites
//     TREE/<index>/site/<site>/index.html, feed.xml      what runs there; .wheels: its lines, of which an event changes those
//                                                        of its project
//     TREE/index.html, TREE/style.<hash>.css, …          the front page, and what all pages load
//
// A report of a site changes pages without an event: those of the projects whose cells differ, and, where the
// node types differ, all of its index, `projects_per_report` of them in a run.
//
// A page names only files that are in the tree: each is looked for. Files that leave the tree leave after
// this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "indexer/publish/publish.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/web/farm_report.hpp"
#include "indexer/web/index_pages.hpp"
#include "indexer/web/site_wheels.hpp"
#include "lib/base/result.hpp"
#include "lib/page/farm.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/inheritance.hpp"

namespace wheelyard::indexer {

class SearchFiles;

struct WebSettings {
    bool precompressed = false;
    std::size_t bulk_from = 0;    // projects
    std::size_t flush_every = 0;  // projects
    std::size_t rows_per_read = 0;
    std::size_t projects_per_report = 0;  // 0: reports are left to a later run
    PublishProgress progress = {};
};

class WebRun {
  public:
    // The references must outlive this object.
    WebRun(Disk& disk, const catalog::Catalog& catalog, const std::filesystem::path& tree,
           const catalog::Inheritance& inheritance, const FarmText& farm, base::KeepAlive keep_alive,
           WebSettings settings)
        : disk_(disk),
          catalog_(catalog),
          tree_(tree),
          inheritance_(inheritance),
          farm_(farm),
          frame_(frame_of(farm)),
          keep_alive_(std::move(keep_alive)),
          settings_(settings) {}

    // The events in (after, until], the projects of `again`, and all of `indexes` that have no search page
    // yet.
    [[nodiscard]] base::Status run(catalog::Serial after, catalog::Serial until,
                                   const std::set<ProjectName>& again,
                                   const std::vector<std::string>& indexes);

    // Projects whose pages could not be written although the rest was.
    [[nodiscard]] const std::vector<Lagging>& lagging() const { return lagging_; }
    [[nodiscard]] std::uint64_t pages() const { return pages_; }
    // Pages still show older node types than their site reports.
    [[nodiscard]] bool has_left() const;

  private:
    struct IndexState {
        SearchTop top;
        SearchChanges entries;  // of the projects that this run touches
        bool is_new = false;    // there is no whole search: `entries` are all projects
        FarmReport report;
        ShownReport shown;                              // of that report, once this run is over
        std::map<std::string, SiteWheels> site_wheels;  // of each site of that report
        std::vector<std::string> gone;                  // projects that the index no longer shows
        bool is_changed = false;
    };
    [[nodiscard]] base::Status prepare(const std::vector<std::string>& indexes, bool from_begin,
                                       TouchedByLog& touched);
    [[nodiscard]] base::Status touch_all(const std::string& index, TouchedProjects& projects);
    // The projects that the index lists and whose pages show another report.
    [[nodiscard]] base::Status touch_reported(const std::string& index, IndexState& state,
                                              TouchedProjects& projects);
    // What the pages of the sites have; a damaged list makes the index change.
    [[nodiscard]] base::Status read_sites(const std::string& index, bool from_begin, IndexState& state);
    [[nodiscard]] base::Status write_sites(const std::string& index, const IndexState& state);
    [[nodiscard]] base::Status write_assets();
    [[nodiscard]] base::Status write_projects(const TouchedProjects& touched);
    [[nodiscard]] base::Status write_project(const ProjectName& name, ProjectView& view);
    [[nodiscard]] base::Result<ProjectText> read_text(const ProjectView& view);
    [[nodiscard]] base::Status write_indexes();
    [[nodiscard]] base::Status write_search(const std::string& index, IndexState& state);
    [[nodiscard]] base::Status write_search(const std::string& index, IndexState& state, SearchFiles& files);
    // As one bulk of the disk, where `count` is worth it.
    [[nodiscard]] base::Status in_bulk(std::size_t count, const std::function<base::Status()>& work);
    [[nodiscard]] base::Status remove_gone();
    [[nodiscard]] base::Status write(const std::string& folder, const std::vector<NamedBytes>& pages);
    // Empty if it does not exist.
    [[nodiscard]] base::Result<std::string> read_if_there(const std::filesystem::path& file,
                                                          std::uint64_t limit);

    Disk& disk_;
    const catalog::Catalog& catalog_;
    const std::filesystem::path& tree_;
    const catalog::Inheritance& inheritance_;
    const FarmText& farm_;
    const page::Farm frame_;
    base::KeepAlive keep_alive_;
    WebSettings settings_;
    std::map<std::string, IndexState> indexes_;
    std::vector<Lagging> lagging_;
    std::uint64_t pages_ = 0;
};

// Identifies what decides the look of all pages: the program's assets and version, and the farm's own text.
// Pages of another look are written again.
[[nodiscard]] std::string look_of(const FarmText& farm);

}  // namespace wheelyard::indexer
