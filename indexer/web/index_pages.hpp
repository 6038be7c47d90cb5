// The pages of a whole index, and the front page of a tree. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/tree/published_state.hpp"
#include "indexer/web/farm_report.hpp"
#include "indexer/web/search_list.hpp"
#include "indexer/web/site_wheels.hpp"
#include "lib/page/farm.hpp"

namespace wheelyard::indexer {

// What the frame of every page shows of a farm.
[[nodiscard]] page::Farm frame_of(const FarmText& farm);

// "9 projects"; of an index with upstreams "9 projects, others from pypi", without one of its own "projects
// from pypi".
[[nodiscard]] std::string projects_text(const FarmText& farm, const std::string& index, std::size_t count);

// TREE/<index>/project/index.html: the search, and the projects for readers without its script: `list` are
// the first max_listed_projects of `count`.
[[nodiscard]] std::string render_search_page(const FarmText& farm, const std::string& index,
                                             const SearchList& list, std::size_t count);
// TREE/<index>/builds/index.html: agents, what runs, what waits, what failed.
[[nodiscard]] std::string render_builds_page(const page::Farm& farm, const std::string& index,
                                             const FarmReport& report);

// TREE/<index>/builds/build.html: one build, which its address names; what it shows comes from the API.
[[nodiscard]] std::string render_build_page(const page::Farm& farm, const std::string& index);

// TREE/<index>/builds/request.html: one request, likewise.
[[nodiscard]] std::string render_request_page(const page::Farm& farm, const std::string& index);

struct IndexSummary {
    std::string name;
    std::size_t projects = 0;
    std::vector<std::pair<std::string, SearchEntry>> newest;  // newest first, at most max_newest
    FarmReport report;
};
[[nodiscard]] IndexSummary summarise(const std::string& index, const SearchTop& top, FarmReport report);
// TREE/index.html
[[nodiscard]] std::string render_front(const FarmText& farm, const std::vector<IndexSummary>& indexes);

// Atom feeds (RFC 4287), newest first: the projects of an index, by their newest upload (`top.newest`), the
// wheels of a project, what became available at a site, and the failed builds of an index.
[[nodiscard]] std::string render_index_feed(std::string_view index, const SearchTop& top);
[[nodiscard]] std::string render_feed(std::string_view index, const ProjectView& view);
[[nodiscard]] std::string render_site_feed(std::string_view index, std::string_view site,
                                           const SiteWheels& wheels);
[[nodiscard]] std::string render_failure_feed(std::string_view index, const FarmReport& report);

}  // namespace wheelyard::indexer
