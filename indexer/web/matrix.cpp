#include "indexer/web/matrix.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "indexer/web/limits.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/clock.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

using page::Html;
using page::Literal;

namespace {

// A wide table scrolls in its own box, also by keyboard, so that the page does not.
Html scrolling(Literal label, const Html& table) {
    Html html("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
    return html.add(label).add("\">\n").add(table).add("</div>\n");
}

using Column = std::pair<std::string, std::string>;  // platform, accelerator

// PEP 440 order, newest first; what is no version comes last.
bool is_newer(const std::string& a, const std::string& b) {
    const auto left = wheel::Version::parse(a);
    const auto right = wheel::Version::parse(b);
    if (!left || !right) return left.has_value() != right.has_value() ? left.has_value() : a < b;
    return *right < *left;
}

using SiteColumn = std::tuple<std::string, std::string, std::string>;  // site, Python, accelerator

}  // namespace

Html render_wheel_matrix(const std::vector<ShownWheel>& wheels) {
    std::set<Column> columns;
    std::vector<std::string> versions;
    std::map<std::string, std::string> days;
    std::map<std::pair<std::string, Column>, std::vector<const ShownWheel*>> cells;
    for (const ShownWheel& wheel : wheels) {
        const std::string& version = wheel.row->version;
        if (versions.empty() || versions.back() != version) {
            if (versions.size() == max_matrix_versions) break;
            versions.push_back(version);
        }
        // The day of its first wheel.
        const std::string day = base::render_rfc3339(wheel.row->upload_time).substr(0, date_chars);
        std::string& first = days.try_emplace(version, day).first->second;
        first = std::min(first, day);
        const Column column{wheel.platform, wheel.accelerator};
        columns.insert(column);
        cells[{version, column}].push_back(&wheel);
    }
    Html table("<table class=\"matrix\">\n<thead><tr><th scope=\"col\">Version</th>");
    for (const auto& [platform, accelerator] : columns) {
        table.add("<th scope=\"col\">").text(platform == "any" ? "any machine" : platform);
        table.add("<small>").text(accelerator.empty() ? "Python only" : accelerator).add("</small></th>");
    }
    table.add("</tr></thead>\n<tbody>\n");
    for (const std::string& version : versions) {
        table.add("<tr><th scope=\"row\">").text(version).add("<small>").text(days.at(version));
        table.add("</small></th>");
        for (const Column& column : columns) {
            table.add("<td>");
            const auto found = cells.find({version, column});
            if (found == cells.end())
                table.add("<span class=\"quiet\">–</span>");
            else
                for (const ShownWheel* wheel : found->second) {
                    table.add("<a class=\"state ")
                        .add(wheel->row->yanked ? Literal("yanked") : Literal("have"));
                    table.add("\" href=\"#").text(anchor_of(*wheel->row)).add("\">");
                    for (std::size_t at = 0; at < wheel->pythons.size(); ++at)
                        table.add(at > 0 ? Literal(", ") : Literal("")).text(wheel->pythons[at]);
                    if (wheel->pythons.empty()) table.add("wheel");
                    if (wheel->row->yanked) table.add(" (yanked)");
                    table.add("</a> ");
                }
            table.add("</td>");
        }
        table.add("</tr>\n");
    }
    return scrolling("Wheels by version and platform", table.add("</tbody>\n</table>\n"));
}

Html render_site_matrix(const std::string& project, const FarmReport& report) {
    const auto known = report.cells.find(project);
    if (known == report.cells.end()) return {};
    std::set<SiteColumn> columns;
    std::set<std::string> names;
    std::map<std::pair<std::string, SiteColumn>, const ReportedBuild*> cells;
    for (const ReportedBuild& cell : known->second) {
        if (!cell.purpose.empty()) continue;  // a test of the wheel has the same version, site and Python
        const SiteColumn column{cell.site, cell.python, cell.accelerator};
        columns.insert(column);
        names.insert(cell.version);
        cells[{cell.version, column}] = &cell;
    }
    std::vector<std::string> versions(names.begin(), names.end());
    std::sort(versions.begin(), versions.end(), is_newer);
    if (versions.size() > max_matrix_versions) versions.resize(max_matrix_versions);
    Html table("<table class=\"matrix\" id=\"sites\" data-project=\"");
    table.text(project).add("\">\n<thead><tr><th scope=\"col\">Version</th>");
    for (const auto& [site, python, accelerator] : columns) {
        table.add("<th scope=\"col\">").text(site).add("<small>Python ").text(python);
        if (!accelerator.empty()) table.add(", ").text(accelerator);
        table.add("</small></th>");
    }
    table.add("</tr></thead>\n<tbody>\n");
    for (const std::string& version : versions) {
        table.add("<tr><th scope=\"row\">").text(version).add("</th>");
        for (const SiteColumn& column : columns) {
            const auto& [site, python, accelerator] = column;
            table.add("<td data-cell=\"").text(version).add("|").text(site).add("|").text(python);
            table.add("|").text(accelerator).add("\">");
            const auto found = cells.find({version, column});
            if (found == cells.end())
                table.add("<span class=\"quiet\">never asked for</span>");
            else
                table.add(render_state(*found->second, "../../builds/"));
            table.add("</td>");
        }
        table.add("</tr>\n");
    }
    return scrolling("State at the sites", table.add("</tbody>\n</table>\n"));
}

}  // namespace wheelyard::indexer
