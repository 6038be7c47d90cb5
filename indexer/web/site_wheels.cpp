#include "indexer/web/site_wheels.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "indexer/web/install_box.hpp"
#include "indexer/web/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {

constexpr std::size_t max_site_wheels_of_project = 20;

constexpr std::string_view site_wheels_format = "wheelyard.site-wheels/1";
constexpr std::size_t site_wheel_members = 9;

std::string mpi_of(const Json& facts) {
    const Json* needed = facts.find("needed");
    return needed == nullptr ? std::string() : base::join(needed->texts("mpi"), ", ");
}

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

// What has been found for one node type, Python and accelerator.
struct FoundForSite {
    std::string_view version;
    bool is_sure = false;
};

bool became_available_later(const SiteWheel& a, const SiteWheel& b) {
    return std::tuple(-a.uploaded_s, std::string_view(a.project)) <
           std::tuple(-b.uploaded_s, std::string_view(b.project));
}

}  // namespace

std::string node_label(const ReportedNode& node) {
    const std::string name = node.name();
    const std::string site = node.site + ", ";
    return name.starts_with(site) ? name.substr(site.size()) : name;
}

std::vector<SiteWheel> wheels_on_site(std::string_view site, const std::vector<ShownWheel>& wheels,
                                      const std::vector<ReportedNode>& nodes) {
    std::map<std::tuple<std::size_t, std::string, std::string>, FoundForSite> found;
    std::vector<SiteWheel> lines;
    for (const ShownWheel& wheel : wheels) {
        if (wheel.row->yanked || !is_final(*wheel.row)) continue;
        for (std::size_t at = 0; at < std::min(nodes.size(), wheel.fits.size()); ++at) {
            const auto runs = wheel.fits[at].runs;
            if (nodes[at].site != site || runs == avail_wheels::Runs::no) continue;
            const bool is_sure = runs == avail_wheels::Runs::yes;
            for (const std::string& python : wheel.pythons) {
                auto& known = found
                                  .try_emplace({at, python, wheel.accelerator},
                                               FoundForSite{wheel.row->version, is_sure})
                                  .first->second;
                const bool is_older = known.version != wheel.row->version;
                if (is_older && (known.is_sure || !is_sure)) continue;
                if (is_sure) known = {wheel.row->version, true};
                const std::string mpi = mpi_of(wheel.facts);
                auto line = std::find_if(lines.begin(), lines.end(), [&](const SiteWheel& one) {
                    return one.version == wheel.row->version && one.accelerator == wheel.accelerator &&
                           one.mpi == mpi && one.is_sure == is_sure;
                });
                if (line == lines.end()) {
                    lines.push_back({.project = wheel.row->project,
                                     .version = wheel.row->version,
                                     .accelerator = wheel.accelerator,
                                     .mpi = mpi,
                                     .is_sure = is_sure});
                    line = std::prev(lines.end());
                }
                add_once(line->pythons, python);
                add_once(line->nodes, node_label(nodes[at]));
                const std::int64_t uploaded = wheel.row->upload_time / micros_per_second;
                if (line->sha256.empty() || uploaded > line->uploaded_s) {
                    line->uploaded_s = uploaded;
                    line->sha256 = wheel.row->sha256;
                }
            }
        }
    }
    for (SiteWheel& line : lines)
        std::sort(line.pythons.begin(), line.pythons.end());
    if (lines.size() > max_site_wheels_of_project) lines.resize(max_site_wheels_of_project);
    return lines;
}

void replace_project(SiteWheels& all, std::string_view project, std::vector<SiteWheel> now) {
    auto& lines = all.lines;
    std::erase_if(lines, [&](const SiteWheel& line) { return line.project == project; });
    std::move(now.begin(), now.end(), std::back_inserter(lines));
    std::stable_sort(lines.begin(), lines.end(), became_available_later);
    if (lines.size() <= max_site_wheels) return;
    lines.resize(max_site_wheels);
    all.is_cut = true;
}

std::string render_site_wheels(const SiteWheels& wheels) {
    std::string text = "{\"format\":\"";
    text.append(site_wheels_format).append("\",\"wheels\":[");
    bool is_first = true;
    for (const SiteWheel& line : wheels.lines) {
        text.append(is_first ? "\n" : ",\n");
        is_first = false;
        text += Json(Json::Array{line.project, line.version, Json::array_of(line.pythons), line.accelerator,
                                 line.mpi, Json::array_of(line.nodes), line.is_sure, line.uploaded_s,
                                 line.sha256})
                    .render();
    }
    text += ']';
    if (wheels.is_cut) text += ",\"is_cut\":true";
    return text += "}\n";
}

std::optional<SiteWheels> parse_site_wheels(std::string_view text) {
    const auto document = io::parse_json(text);
    if (!document || document->string_or("format", {}) != site_wheels_format) return std::nullopt;
    SiteWheels wheels;
    for (const Json& item : document->items("wheels")) {
        const auto& parts = item.items();
        if (parts.size() != site_wheel_members) return std::nullopt;
        for (const std::size_t at : {0U, 1U, 3U, 4U, 8U})
            if (parts[at].as_string() == nullptr) return std::nullopt;
        if (parts[6].as_bool() == nullptr || parts[7].as_int() == nullptr) return std::nullopt;
        wheels.lines.push_back({*parts[0].as_string(), *parts[1].as_string(), parts[2].texts(),
                                *parts[3].as_string(), *parts[4].as_string(), parts[5].texts(),
                                *parts[6].as_bool(), *parts[7].as_int(), *parts[8].as_string()});
    }
    // Older programs did not write whether it was.
    wheels.is_cut = document->bool_or("is_cut", wheels.lines.size() == max_site_wheels);
    return wheels;
}

}  // namespace wheelyard::indexer
