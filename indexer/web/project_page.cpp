// A page has at most max_wheel_sections sections with facts and max_matrix_versions versions in a table;
// older files are one line each in a closed list. So a project with 2,000 files stays readable, and its page
// below a megabyte.
#include "indexer/web/project_page.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <utility>

#include "indexer/tree/paths.hpp"
#include "indexer/web/install_box.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/markdown.hpp"
#include "indexer/web/shown_project.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/assets.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/template.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

namespace {

// Wheels of a project page with a section of their own; older ones are one line each. 40 sections are some
// 200 KiB.
constexpr std::size_t max_wheel_sections = 40;
// Lines of the list of older files.
constexpr std::size_t max_listed_files = 2'000;

using Rows = std::vector<const catalog::FileRow*>;

// The files of one kind, newest version first.
Rows rows_of(const ProjectView& view, bool sdists) {
    Rows rows;
    for (auto row = view.files.rbegin(); row != view.files.rend(); ++row) {
        if (wheel::is_sdist_filename(row->filename) == sdists) rows.push_back(&*row);
    }
    return rows;
}

std::vector<FileLine> file_lines(std::span<const catalog::FileRow* const> rows) {
    std::vector<FileLine> lines;
    for (const catalog::FileRow* row : rows.first(std::min(rows.size(), max_listed_files)))
        lines.push_back({anchor_of(*row), file_link(*row), row->filename, base::render_bytes(row->size_bytes),
                         row->yanked});
    return lines;
}

// "2 more files are"
std::string quarantined_text(const ProjectView& view) {
    if (view.quarantined == 0) return {};
    if (view.files.empty()) return "All files are";
    return std::to_string(view.quarantined) + (view.quarantined == 1 ? " more file is" : " more files are");
}

std::vector<VersionSection> version_sections(const ProjectPage& page, const std::vector<ShownWheel>& wheels) {
    std::vector<VersionSection> sections;
    for (std::size_t at = 0; at < std::min(wheels.size(), max_wheel_sections); ++at) {
        const catalog::FileRow& row = *wheels[at].row;
        if (sections.empty() || sections.back().version != row.version) sections.push_back({row.version});
        const auto provenance = page.provenance.find(row.sha256);
        sections.back().wheels.push_back(
            render_wheel(wheels[at], page.index, simple_address(page.farm, page.index), page.report.nodes,
                         provenance == page.provenance.end() ? "" : provenance->second, at == 0));
    }
    return sections;
}

RequirementLine requirement_line(const std::string& text) {
    const auto requirement = wheel::Requirement::parse(text);
    if (!requirement || !text.starts_with(requirement->name)) return {.project = {}, .rest = text};
    return {requirement->project, text.substr(requirement->name.size()), requirement->specifiers.text(),
            where_needed(requirement->marker)};
}

}  // namespace

const catalog::FileRow* newest_row(const ProjectView& view) {
    const auto& files = view.files;
    if (files.empty()) return nullptr;
    auto found = std::find_if(files.rbegin(), files.rend(),
                              [](const catalog::FileRow& row) { return !row.yanked && is_final(row); });
    if (found == files.rend()) found = files.rbegin();
    // A wheel of the version says more than its sdist.
    const auto wheel = std::find_if(found, files.rend(), [&](const catalog::FileRow& row) {
        return row.version == found->version && !row.yanked && !wheel::is_sdist_filename(row.filename);
    });
    return wheel == files.rend() ? &*found : &*wheel;
}

std::vector<const catalog::FileRow*> rows_with_provenance(const ProjectView& view) {
    Rows rows = rows_of(view, false);
    rows.resize(std::min(rows.size(), max_wheel_sections));
    std::erase_if(rows, [](const catalog::FileRow* row) { return row->provenance_sha256.empty(); });
    return rows;
}

std::vector<ShownWheel> newest_wheels(const ProjectView& view, const FarmReport& report) {
    std::vector<ShownWheel> wheels;
    std::set<std::string_view> versions;
    for (const catalog::FileRow* row : rows_of(view, false)) {
        versions.insert(row->version);
        if (wheels.size() == max_read_wheels || versions.size() > max_matrix_versions) break;
        wheels.push_back(read_wheel(*row, report));
    }
    return wheels;
}

std::string render_project_page(const ProjectPage& page) {
    return render_project_page(page, newest_wheels(page.view, page.report));
}

std::string render_project_page(const ProjectPage& page, const std::vector<ShownWheel>& wheels) {
    const Rows rows = rows_of(page.view, false);
    const catalog::FileRow* newest = newest_row(page.view);
    const std::string name = page.text.name.empty() ? page.view.project : page.text.name;
    ShownProject shown{.project = page.view.project, .name = name};
    if (newest != nullptr) shown.version = newest->version;
    shown.summary = page.text.summary;
    if (page.view.status != catalog::ProjectStatus::active)
        shown.status = catalog::project_status_text(page.view.status);
    shown.status_reason = page.view.status_reason;
    shown.install = render_install(page, wheels);
    shown.grid = render_grid(page.view.project, wheels, page.report);
    if (page.report.cells.contains(page.view.project)) shown.report_time = render_time(page.report.time);
    shown.quarantined = quarantined_text(page.view);
    shown.versions = version_sections(page, wheels);
    if (rows.size() > max_wheel_sections) {
        shown.older = rows.size() - max_wheel_sections;
        shown.older_files = file_lines(std::span(rows).subspan(max_wheel_sections));
    }
    shown.sdists = file_lines(rows_of(page.view, true));
    if (!page.text.description.empty())
        shown.description = render_description(page.text.description, page.text.description_type);
    shown.licence = page.text.licence;
    for (const auto& [label, url] : page.text.links)
        shown.links.push_back({label, url});
    for (const std::string& requirement : page.text.requirements)
        shown.requirements.push_back(requirement_line(requirement));
    shown.compare_script = page::asset("compare.js").published_name();
    shown.versions_script = page::asset("versions.js").published_name();
    page::Frame frame;
    frame.farm = page.farm;
    frame.title = name + " – " + std::string(page.index);
    frame.root = "../../../";
    frame.description = page.text.summary;
    frame.trail = {{"../", std::string(page.index)}, {"../../builds/", "Builds"}, {"../../site/", "Sites"}};
    frame.scripts = {"common.js", "shards.js", "project.js"};
    frame.feed = "feed.xml";
    frame.data_root = "../../";
    return page::render_page(frame, page::render("project.html", shown));
}

}  // namespace wheelyard::indexer
