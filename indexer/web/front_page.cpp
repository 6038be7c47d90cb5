// The front page: the indexes with their sites' hardware, the newest wheels, what is being built.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/shown_index.hpp"
#include "indexer/web/shown_project.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

using page::Html;

namespace {

// Builds that run, on the front page.
constexpr std::size_t max_running = 12;

std::string folder_of(const std::string& index) {
    return base::encode_percent(index) + "/";
}

// "72 cores, 479 GiB, 1 GPU of sm_90"
std::string hardware_of(const ReportedNode& node) {
    std::vector<std::string> parts;
    if (node.cores > 0) parts.push_back(std::to_string(node.cores) + (node.cores == 1 ? " core" : " cores"));
    if (node.memory_mib > 0)
        parts.push_back(base::render_bytes(static_cast<std::uint64_t>(node.memory_mib) * base::mib));
    std::string gpus;
    if (node.gpus > 0) gpus = std::to_string(node.gpus) + (node.gpus == 1 ? " GPU" : " GPUs");
    if (node.node.gpus && !node.node.gpus->archs.empty())
        gpus += (gpus.empty() ? "" : " of ") + base::join(node.node.gpus->archs, ", ");
    if (!gpus.empty()) parts.push_back(gpus);
    return base::join(parts, ", ");
}

IndexCard index_card(const FarmText& farm, const IndexSummary& index) {
    IndexCard card;
    card.folder = folder_of(index.name);
    card.name = index.name;
    const auto title = farm.titles.find(index.name);
    if (title != farm.titles.end()) card.title = title->second;
    card.projects = projects_text(farm, index.name, index.projects);
    card.building = index.report.attempts.size();
    card.broken = count_broken(index.report);
    for (const ReportedNode& node : index.report.nodes)
        card.nodes.push_back({node.name(), hardware_of(node)});
    return card;
}

// What runs at the sites, each with the way to its item on the page of builds.
std::vector<RunningLine> running_lines(const std::vector<IndexSummary>& indexes) {
    std::vector<RunningLine> lines;
    for (const IndexSummary& index : indexes) {
        for (const ReportedBuild& build : index.report.attempts) {
            if (lines.size() == max_running) break;
            lines.push_back({.link = folder_of(index.name) + "builds/#" + build_anchor(build.id),
                             .package = build.package,
                             .version = build.version,
                             .place = place_text(build),
                             .phase = build.phase.empty() ? build.state : build.phase,
                             .bar = render_bar(build)});
        }
    }
    return lines;
}

struct Newest {
    const std::string* index;
    const std::pair<std::string, SearchEntry>* entry;
};

std::vector<Html> newest_cards(const std::vector<IndexSummary>& indexes) {
    std::vector<Newest> newest;
    for (const IndexSummary& index : indexes) {
        for (const auto& entry : index.newest)
            newest.push_back({&index.name, &entry});
    }
    std::stable_sort(newest.begin(), newest.end(), [](const Newest& a, const Newest& b) {
        return a.entry->second.uploaded_s > b.entry->second.uploaded_s;
    });
    if (newest.size() > max_newest) newest.resize(max_newest);
    std::vector<Html> cards;
    for (const auto& [index, entry] : newest) {
        const auto& [name, found] = *entry;
        ProjectCard card = project_card(folder_of(*index) + "project/", name, found);
        card.index = *index;
        card.time = render_time(base::render_rfc3339(found.uploaded_s * micros_per_second));
        cards.push_back(page::render("card.html", card));
    }
    return cards;
}

}  // namespace

IndexSummary summarise(const std::string& index, const SearchTop& top, FarmReport report) {
    IndexSummary summary{
        .name = index, .projects = top.count, .newest = top.newest, .report = std::move(report)};
    if (summary.newest.size() > max_newest) summary.newest.resize(max_newest);
    return summary;
}

namespace {

constexpr std::string_view our_text =
    "Python wheels built for the machines of these sites. Each wheel is checked before it is published.";

// The link of a URL or an address of electronic mail; of anything else none.
std::string contact_link(const std::string& contact) {
    const bool is_mail =
        contact.find('@') != std::string::npos && contact.find_first_of(" /") == std::string::npos;
    const std::string url = is_mail && !contact.starts_with("mailto:") ? "mailto:" + contact : contact;
    return is_mail || page::is_safe_url(url) ? url : "";
}

}  // namespace

std::string projects_text(const FarmText& farm, const std::string& index, std::size_t count) {
    const std::string own = std::to_string(count) + (count == 1 ? " project" : " projects");
    const auto upstreams = farm.upstreams.find(index);
    if (upstreams == farm.upstreams.end()) return own;
    return (count == 0 ? "projects" : own + ", others") + " from " + upstreams->second;
}

page::Farm frame_of(const FarmText& farm) {
    return {farm.title, farm.style.empty() ? "" : page::farm_file_name("farm", ".css", farm.style), farm.logo,
            farm.url, farm.login};
}

std::string render_front(const FarmText& farm, const std::vector<IndexSummary>& indexes) {
    ShownFront front;
    front.title = farm.title.empty() ? "Wheelyard" : farm.title;
    front.lead = farm.text.empty() ? our_text : farm.text;
    front.contact = farm.contact;
    front.contact_link = contact_link(farm.contact);
    std::vector<IndexSummary> shown;
    std::copy_if(indexes.begin(), indexes.end(), std::back_inserter(shown),
                 [&](const IndexSummary& index) { return !farm.hidden.contains(index.name); });
    std::vector<std::string> folders;
    for (const IndexSummary& index : shown) {
        folders.push_back(folder_of(index.name) + "project/");
        front.indexes.push_back(index_card(farm, index));
    }
    if (!folders.empty()) front.form = page::render_search_form(base::join(folders, " "));
    front.running = running_lines(shown);
    front.newest = newest_cards(shown);
    front.help = page::render("help.html", NoView{});
    page::Frame frame;
    frame.title = front.title;
    frame.farm = frame_of(farm);
    frame.description = front.lead;
    frame.scripts = {"common.js", "shards.js", "search.js"};
    std::vector<std::string> machines;
    for (const IndexSummary& index : shown)
        machines.push_back(folder_of(index.name));
    frame.machines = base::join(machines, " ");
    for (const IndexSummary& index : shown)
        frame.trail.push_back({folder_of(index.name) + "project/", index.name});
    constexpr std::size_t max_trail = 4;
    if (frame.trail.size() > max_trail) frame.trail.resize(max_trail);
    return page::render_page(frame, page::render("front.html", front));
}

}  // namespace wheelyard::indexer
