// The front page: the indexes with their sites' hardware, the newest wheels, what is being built.
#include <algorithm>
#include <utility>

#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/shown_project.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/search_form.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

using page::Html;
using page::Literal;

namespace {

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

void add_index(Html& body, const FarmText& farm, const IndexSummary& index) {
    body.add("<li class=\"card\"><h3><a href=\"")
        .url(folder_of(index.name) + "project/")
        .add("\">")
        .text(index.name);
    body.add("</a></h3>\n");
    const auto title = farm.titles.find(index.name);
    if (title != farm.titles.end() && !title->second.empty())
        body.add("<p>").text(title->second).add("</p>\n");
    body.add("<p class=\"quiet\">").number(index.projects);
    body.add(index.projects == 1 ? Literal(" project") : Literal(" projects"));
    Html building;
    if (!index.report.attempts.empty()) {
        building.add(" · <a href=\"").url(folder_of(index.name) + "builds/").add("\">");
        building.number(index.report.attempts.size()).add(" being built now</a>");
    }
    body.add(between_status_marks(building)).add("</p>\n");
    Html nodes;
    for (const ReportedNode& node : index.report.nodes) {
        const std::string hardware = hardware_of(node);
        nodes.add("<li data-node=\"")
            .text(node.name())
            .add("\">")
            .text(node.name())
            .text(hardware.empty() ? "" : ": " + hardware)
            .add("</li>\n");
    }
    if (!nodes.is_empty()) nodes = Html("<ul class=\"tags\">\n").add(nodes).add("</ul>\n");
    body.add(between_status_marks(nodes)).add("</li>\n");
}

// What runs at the sites, each with the way to its item on the page of builds.
Html render_running(const std::vector<IndexSummary>& indexes) {
    Html items;
    std::size_t shown = 0;
    for (const IndexSummary& index : indexes) {
        for (const ReportedBuild& build : index.report.attempts) {
            if (shown++ >= max_running) break;
            items.add("<li class=\"row\"><strong><a href=\"")
                .url(folder_of(index.name) + "builds/#" + build_anchor(build.id))
                .add("\">");
            items.text(build.package).add(" ").text(build.version).add("</a></strong><span class=\"quiet\">");
            items.add(render_place(build)).add("</span><span><span class=\"state active\">");
            items.text(build.phase.empty() ? build.state : build.phase).add("</span> ");
            items.add(render_bar(build)).add("</span></li>\n");
        }
    }
    if (items.is_empty()) return between_status_marks({});
    Html html("<h2>Being built</h2>\n<ul class=\"builds\">\n");
    return between_status_marks(html.add(items).add("</ul>\n"));
}

struct Newest {
    const std::string* index;
    const std::pair<std::string, SearchEntry>* entry;
};

Html render_newest(const std::vector<IndexSummary>& indexes) {
    std::vector<Newest> newest;
    for (const IndexSummary& index : indexes) {
        for (const auto& entry : index.newest)
            newest.push_back({&index.name, &entry});
    }
    std::stable_sort(newest.begin(), newest.end(), [](const Newest& a, const Newest& b) {
        return a.entry->second.uploaded_s > b.entry->second.uploaded_s;
    });
    if (newest.size() > max_newest) newest.resize(max_newest);
    Html html;
    if (newest.empty()) return html;
    html.add("<h2>Newest wheels</h2>\n<ul class=\"grid\">\n");
    for (const auto& [index, entry] : newest) {
        const auto& [name, found] = *entry;
        ProjectCard card = project_card(folder_of(*index) + "project/", name, found);
        card.index = *index;
        card.time = render_time(base::render_rfc3339(found.uploaded_s * micros_per_second));
        html.add(page::render("card.html", card));
    }
    return html.add("</ul>\n");
}

}  // namespace

IndexSummary summarise(const std::string& index, const SearchList& list, FarmReport report) {
    IndexSummary summary{.name = index, .projects = list.size(), .newest = {}, .report = std::move(report)};
    std::vector<const SearchList::value_type*> entries;
    entries.reserve(list.size());
    for (const auto& entry : list)
        entries.push_back(&entry);
    const auto count = std::min(entries.size(), max_newest);
    std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count), entries.end(),
                      [](const auto* a, const auto* b) {
                          return a->second.uploaded_s != b->second.uploaded_s
                                     ? a->second.uploaded_s > b->second.uploaded_s
                                     : a->first < b->first;
                      });
    for (std::size_t at = 0; at < count; ++at)
        summary.newest.emplace_back(entries[at]->first, entries[at]->second);
    return summary;
}

namespace {

constexpr std::string_view our_text =
    "Python wheels built for the machines of these sites. Each wheel is checked before it is published.";

// A URL or an address of electronic mail becomes a link; anything else is shown as it is.
Html render_contact(const std::string& contact) {
    Html html;
    if (contact.empty()) return html;
    const bool is_mail =
        contact.find('@') != std::string::npos && contact.find_first_of(" /") == std::string::npos;
    const std::string url = is_mail && !contact.starts_with("mailto:") ? "mailto:" + contact : contact;
    html.add("<p class=\"quiet\">Contact: ");
    if (is_mail || page::is_safe_url(url)) {
        html.add("<a href=\"").url(url).add("\">").text(contact).add("</a>");
    } else {
        html.text(contact);
    }
    return html.add("</p>\n");
}

}  // namespace

page::Farm frame_of(const FarmText& farm) {
    return {farm.title, farm.style.empty() ? "" : page::farm_file_name("farm", ".css", farm.style),
            farm.logo};
}

std::string render_front(const FarmText& farm, const std::vector<IndexSummary>& indexes) {
    const std::string title = farm.title.empty() ? "Wheelyard" : farm.title;
    Html body("<h1>");
    const std::string lead = farm.text.empty() ? std::string(our_text) : farm.text;
    body.text(title)
        .add("</h1>\n<p class=\"lead\">")
        .text(lead)
        .add("</p>\n")
        .add(render_contact(farm.contact));
    std::vector<IndexSummary> shown;
    std::copy_if(indexes.begin(), indexes.end(), std::back_inserter(shown),
                 [&](const IndexSummary& index) { return !farm.hidden.contains(index.name); });
    std::vector<std::string> folders;
    for (const IndexSummary& index : shown)
        folders.push_back(folder_of(index.name) + "project/");
    if (!folders.empty())
        body.add(page::render_search_form(base::join(folders, " ")))
            .add("<ul id=\"results\" class=\"grid\"></ul>\n");
    body.add("<h2>Indexes</h2>\n<ul class=\"grid wide\">\n");
    for (const IndexSummary& index : shown)
        add_index(body, farm, index);
    body.add("</ul>\n")
        .add(render_running(shown))
        .add(render_newest(shown))
        .add(page::render("help.html", NoView{}));
    page::Frame frame;
    frame.title = title;
    frame.farm = frame_of(farm);
    frame.description = lead;
    frame.scripts = {"common.js", "search.js"};
    std::vector<std::string> machines;
    for (const IndexSummary& index : shown)
        machines.push_back(folder_of(index.name));
    frame.machines = base::join(machines, " ");
    for (const IndexSummary& index : shown)
        frame.trail.push_back({folder_of(index.name) + "project/", index.name});
    constexpr std::size_t max_trail = 4;
    if (frame.trail.size() > max_trail) frame.trail.resize(max_trail);
    return page::render_page(frame, body);
}

}  // namespace wheelyard::indexer
