// What runs on the nodes of one site, of each project the newest version for each node type, Python and
// accelerator. Kept beside the site's page, so that a new wheel changes the lines of its project alone:
// TREE/<index>/site/<site>/.wheels, which web servers hide as they hide every name with a dot.
//
//     {"format":"wheelyard.site-wheels/1","wheels":[
//      ["torch","2.4.0",["3.12"],"CUDA 12.6","libmpi.so.40",["gh (gh200)"],true,1795176000,"<sha256>"],…],"is_cut":true}
//
// In order: project, version, Pythons, accelerator, MPI, node types, whether it is known to run, time of the
// newest upload (seconds), that wheel. "is_cut": there were more than max_site_wheels lines once, and the
// others are not known any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/web/farm_report.hpp"
#include "indexer/web/wheel_facts.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view site_wheels_file = ".wheels";

struct SiteWheel {
    std::string project;
    std::string version;
    std::vector<std::string> pythons = {};  // "3.12", "3.9 and newer", "any 3"
    std::string accelerator = {};           // "CUDA 12.6", "CPU"; empty: Python only
    std::string mpi = {};                   // the libraries that it needs
    std::vector<std::string> nodes = {};    // "gh (gh200)"
    bool is_sure = false;                   // otherwise nothing is known that speaks against it
    std::int64_t uploaded_s = 0;
    std::string sha256 = {};
    bool operator==(const SiteWheel&) const = default;
};
struct SiteWheels {
    std::vector<SiteWheel> lines = {};  // the last that became available first
    bool is_cut = false;
    bool operator==(const SiteWheels&) const = default;
};

// `wheels`: of one project, newest version first, with their fits for `nodes`, which are those of all sites.
[[nodiscard]] std::vector<SiteWheel> wheels_on_site(std::string_view site,
                                                    const std::vector<ShownWheel>& wheels,
                                                    const std::vector<ReportedNode>& nodes);
// `now` takes the place of the project's lines; at most max_site_wheels stay.
void replace_project(SiteWheels& all, std::string_view project, std::vector<SiteWheel> now);

[[nodiscard]] std::string render_site_wheels(const SiteWheels& wheels);
// nullopt: not such a text.
[[nodiscard]] std::optional<SiteWheels> parse_site_wheels(std::string_view text);

// "gh (gh200)": the name of a node type on the page of its site.
[[nodiscard]] std::string node_label(const ReportedNode& node);

}  // namespace wheelyard::indexer
