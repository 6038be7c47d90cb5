#include "indexer/web/site_page.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "indexer/web/limits.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

namespace {

// Builds of one kind on the page of a site; the page of builds has the others.
constexpr std::size_t max_site_builds = 20;

}  // namespace

void SiteNodeLine::show(page::Values& to) const {
    to("name", name)("label", label)("about", about);
}

void SiteWheelRow::show(page::Values& to) const {
    to("project", project)("anchor", anchor)("version", version)("pythons", pythons);
    to("accelerator", accelerator)("mpi", mpi)("nodes", nodes)("is_sure", is_sure)("time", time);
}

void SiteBuildRow::show(page::Values& to) const {
    to("name", name)("link", link)("place", place)("state", state)("cause", cause);
}

void SiteBuildList::show(page::Values& to) const {
    to("title", title)("empty", empty)("rows", rows)("more", more);
}

void ShownSitePage::show(page::Values& to) const {
    to("site", site)("index", index)("pythons", pythons)("nodes", nodes)("report_time", report_time);
    to("wheels", wheels)("limit", limit)("lists", lists);
}

void ListedSite::show(page::Values& to) const {
    to("site", site)("link", link)("count", count)("projects", projects)("report_time", report_time);
    to("nodes", nodes);
}

void ShownSites::show(page::Values& to) const {
    to("index", index)("sites", sites);
}

namespace {

std::vector<SiteNodeLine> node_lines(const FarmReport& report, const std::string& site) {
    std::vector<SiteNodeLine> lines;
    for (const ReportedNode& node : report.nodes) {
        if (node.site != site) continue;
        std::vector<std::string> about;
        if (!node.node.machine.empty()) about.push_back(node.node.machine);
        if (node.cores > 0) about.push_back(std::to_string(node.cores) + " cores");
        if (node.memory_mib > 0)
            about.push_back(base::render_bytes(static_cast<std::uint64_t>(node.memory_mib) * base::mib) +
                            " of memory");
        std::string gpus =
            node.gpus > 0 ? std::to_string(node.gpus) + (node.gpus == 1 ? " GPU" : " GPUs") : "";
        if (node.node.gpus && !node.node.gpus->archs.empty())
            gpus += (gpus.empty() ? "" : ", ") + base::join(node.node.gpus->archs, ", ");
        if (!gpus.empty()) about.push_back(gpus);
        lines.push_back({node.name(), node_label(node), base::join(about, " · ")});
    }
    return lines;
}

std::string pythons_of_site(const FarmReport& report, const std::string& site) {
    std::vector<std::string> pythons;
    for (const ReportedNode& node : report.nodes) {
        if (node.site != site) continue;
        for (const avail_wheels::Python& python : node.node.pythons) {
            const std::string text = python.text();
            if (std::find(pythons.begin(), pythons.end(), text) == pythons.end()) pythons.push_back(text);
        }
    }
    return base::join(pythons, ",");
}

// The rows for which `wanted` holds.
template <class Wanted>
SiteBuildList build_list(std::string title, std::string empty, const std::vector<ReportedBuild>& builds,
                         const Wanted& wanted) {
    SiteBuildList list{.title = std::move(title), .empty = std::move(empty)};
    for (const ReportedBuild& build : builds) {
        if (!wanted(build)) continue;
        if (list.rows.size() == max_site_builds) {
            ++list.more;
            continue;
        }
        std::string place = "Python " + build.python;
        if (!build.accelerator.empty()) place += ", " + build.accelerator;
        if (!build.purpose.empty()) place += ", " + build.purpose;
        if (!build.phase.empty()) place += " · " + build.phase;
        list.rows.push_back(
            {.name = build.package + " " + build.version,
             .link = build.id.empty() ? std::string()
                                      : "../../builds/build.html?site=" + base::encode_percent(build.site) +
                                            "&id=" + base::encode_percent(build.id),
             .place = std::move(place),
             .state = render_state(build),
             .cause = build.cause});
    }
    return list;
}

std::vector<SiteBuildList> build_lists(const FarmReport& report, const std::string& site) {
    const auto is_here = [&](const ReportedBuild& build) { return build.site == site; };
    std::vector<ReportedBuild> running = report.attempts;
    for (ReportedBuild& build : running)
        build.state = "active";
    std::vector<ReportedBuild> failed = report.failures;
    for (ReportedBuild& build : failed)
        build.state = "given up";
    std::vector<ReportedBuild> waiting;
    std::vector<ReportedBuild> built;
    for (const auto& [package, cells] : report.cells) {
        for (const ReportedBuild& cell : cells) {
            if (cell.state == "wanted" || cell.state == "held") waiting.push_back(cell);
            if (cell.state == "have" && cell.purpose.empty()) built.push_back(cell);
        }
    }
    return {build_list("Being built", "Nothing is being built.", running, is_here),
            build_list("Failed", "No build has failed.", failed, is_here),
            build_list("Waiting", "Nothing waits.", waiting, is_here),
            build_list("Built", "Nothing has been built.", built, is_here)};
}

page::Html time_of_site(const FarmReport& report, const std::string& site) {
    const auto found = std::find_if(report.sites.begin(), report.sites.end(),
                                    [&](const ReportedSite& one) { return one.site == site; });
    return found == report.sites.end() ? page::Html() : render_time(found->time);
}

}  // namespace

std::string render_site_page(const page::Farm& farm, const std::string& index, const std::string& site,
                             const FarmReport& report, const SiteWheels& wheels) {
    ShownSitePage shown{.site = site, .index = index};
    shown.pythons = pythons_of_site(report, site);
    shown.nodes = node_lines(report, site);
    shown.report_time = time_of_site(report, site);
    for (const SiteWheel& line : wheels.lines)
        shown.wheels.push_back(
            {.project = line.project,
             .anchor = anchor_of(line.sha256),
             .version = line.version,
             .pythons = base::join(line.pythons, ", "),
             .accelerator = line.accelerator,
             .mpi = line.mpi,
             .nodes = base::join(line.nodes, ", "),
             .is_sure = line.is_sure,
             .time = render_time(base::render_rfc3339(line.uploaded_s * micros_per_second))});
    if (wheels.is_cut) shown.limit = wheels.lines.size();
    shown.lists = build_lists(report, site);
    page::Frame frame;
    frame.farm = farm;
    frame.title = "What runs at " + site + " – " + index;
    frame.description =
        "The wheels of " + index + " that run at " + site + ", and what is being built there.";
    frame.root = "../../../";
    frame.trail = {{"../../project/", index}, {"../../builds/", "Builds"}, {"../", "Sites"}, {"./", site}};
    frame.scripts = {"common.js", "site.js"};
    frame.feed = "feed.xml";
    frame.data_root = "../../";
    return page::render_page(frame, page::render("site.html", shown));
}

std::string render_sites_page(const page::Farm& farm, const std::string& index, const FarmReport& report,
                              const std::map<std::string, SiteWheels>& wheels) {
    ShownSites shown{.index = index};
    const SiteWheels none;
    for (const ReportedSite& site : report.sites) {
        const auto found = wheels.find(site.site);
        const SiteWheels& listed = found == wheels.end() ? none : found->second;
        std::set<std::string_view> projects;
        for (const SiteWheel& line : listed.lines)
            projects.insert(line.project);
        // Without node types nothing is known to run anywhere.
        const auto nodes = node_lines(report, site.site);
        std::string count = (listed.is_cut ? "at least " : "") + std::to_string(projects.size());
        shown.sites.push_back({.site = site.site,
                               .link = base::encode_percent(site.site) + "/",
                               .count = nodes.empty() ? std::string() : std::move(count),
                               .projects = projects.size() == 1 ? "project" : "projects",
                               .report_time = render_time(site.time),
                               .nodes = nodes});
    }
    page::Frame frame;
    frame.farm = farm;
    frame.title = "Sites of " + index;
    frame.description = "The sites whose agents fill " + index + ", their node types, and what runs there.";
    frame.root = "../../";
    frame.trail = {{"../project/", index}, {"../builds/", "Builds"}, {"./", "Sites"}};
    frame.scripts = {"common.js"};
    frame.data_root = "../";
    return page::render_page(frame, page::render("sites.html", shown));
}

}  // namespace wheelyard::indexer
