// A page has at most max_wheel_sections sections with facts and max_matrix_versions versions in a table; older files are
// one line each in a closed list. So a project with 2,000 files stays readable, and its page below a megabyte.
#include "indexer/web/project_page.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "indexer/tree/paths.hpp"
#include "indexer/web/install_box.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/markdown.hpp"
#include "indexer/web/matrix.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

using page::Html;
using page::Literal;

namespace {

using Rows = std::vector<const catalog::FileRow*>;

// The files of one kind, newest version first.
Rows rows_of(const ProjectView& view, bool sdists) {
    Rows rows;
    for (auto row = view.files.rbegin(); row != view.files.rend(); ++row) {
        if (wheel::is_sdist_filename(row->filename) == sdists) rows.push_back(&*row);
    }
    return rows;
}

std::vector<ShownWheel> newest_wheels(const ProjectPage& page, const Rows& rows) {
    std::vector<ShownWheel> wheels;
    std::set<std::string_view> versions;
    for (const catalog::FileRow* row : rows) {
        versions.insert(row->version);
        if (wheels.size() == max_read_wheels || versions.size() > max_matrix_versions) break;
        wheels.push_back(read_wheel(*row, page.report));
    }
    return wheels;
}

// One line for each file.
Html render_file_list(std::span<const catalog::FileRow* const> rows) {
    Html html("<ul>\n");
    for (const catalog::FileRow* row : rows.first(std::min(rows.size(), max_listed_files))) {
        html.add("<li id=\"").text(anchor_of(*row)).add("\"><a href=\"").url(file_link(*row)).add("\">");
        html.text(row->filename).add("</a> <span class=\"quiet\">").text(base::render_bytes(row->size_bytes));
        html.add("</span>");
        if (row->yanked) html.add(" <span class=\"state yanked\">yanked</span>");
        html.add("</li>\n");
    }
    return html.add("</ul>\n");
}

Html render_notices(const ProjectView& view) {
    Html html;
    if (view.status != catalog::ProjectStatus::active) {
        html.add("<p class=\"note\">This project is <strong>")
            .text(catalog::project_status_text(view.status));
        html.add("</strong>.");
        if (!view.status_reason.empty()) html.add(" ").text(view.status_reason);
        html.add("</p>\n");
    }
    return html;
}

Html render_sites(const ProjectPage& page) {
    const Html matrix = render_site_matrix(page.view.project, page.report);
    if (matrix.is_empty()) return between_status_marks({});
    Html html("<section aria-labelledby=\"at-sites\">\n<h2 id=\"at-sites\">At the sites</h2>\n");
    html.add(matrix)
        .add("<p class=\"quiet\">As of <span id=\"status-time\">")
        .add(render_time(page.report.time));
    html.add("</span>. <a href=\"../../builds/\">All builds</a></p>\n</section>\n");
    return between_status_marks(html);
}

Html render_quarantined(const ProjectView& view) {
    Html html;
    if (view.quarantined == 0 || view.files.empty()) return html;
    html.add("<p class=\"quiet\">").number(view.quarantined);
    return html.add(view.quarantined == 1 ? Literal(" more file is") : Literal(" more files are"))
        .add(" in quarantine and not offered.</p>\n");
}

Html render_versions(const ProjectPage& page, const Rows& rows, const std::vector<ShownWheel>& wheels) {
    Html html("<section aria-labelledby=\"wheels\">\n<h2 id=\"wheels\">Wheels</h2>\n");
    html.add(render_quarantined(page.view));
    if (wheels.empty()) return html.add("<p>None.</p>\n</section>\n");
    html.add(render_wheel_matrix(wheels)).add("<h3>What is known of each wheel</h3>\n");
    std::string_view version;
    for (std::size_t at = 0; at < std::min(wheels.size(), max_wheel_sections); ++at) {
        if (wheels[at].row->version != version) {
            version = wheels[at].row->version;
            html.add("<h4 id=\"version-").text(version).add("\">").text(version).add("</h4>\n");
        }
        const auto provenance = page.provenance.find(wheels[at].row->sha256);
        html.add(render_wheel(wheels[at], page.report.nodes,
                              provenance == page.provenance.end() ? "" : provenance->second, at == 0));
    }
    if (rows.size() > max_wheel_sections) {
        html.add("<details><summary>").number(rows.size() - max_wheel_sections);
        html.add(" older files</summary>\n")
            .add(render_file_list(std::span(rows).subspan(max_wheel_sections)))
            .add("</details>\n");
    }
    return html.add("</section>\n");
}

Html render_sdists(const Rows& rows) {
    if (rows.empty()) return {};
    Html html("<section aria-labelledby=\"sdists\">\n<h2 id=\"sdists\">Source distributions</h2>\n");
    html.add("<p class=\"quiet\">An installer builds these where no wheel fits.</p>\n");
    return html.add(render_file_list(rows)).add("</section>\n");
}

// The name leads to the search, which says whether the index has it, and where to ask for it if not.
Html render_requirement(const std::string& text) {
    const auto requirement = wheel::Requirement::parse(text);
    if (!requirement || !text.starts_with(requirement->name)) return Html().text(text);
    Html html("<a href=\"");
    html.url("../?q=" + base::encode_percent(requirement->project)).add("\">").text(requirement->name);
    return html.add("</a>").text(text.substr(requirement->name.size()));
}

Html render_aside(const ProjectPage& page) {
    const ProjectText& text = page.text;
    Html html("<aside aria-label=\"About the project\">\n");
    if (!text.licence.empty()) html.add("<h2>Licence</h2>\n<p>").text(text.licence).add("</p>\n");
    if (!text.links.empty()) {
        html.add("<h2>Links</h2>\n<ul>\n");
        for (const auto& [label, url] : text.links)
            html.add("<li><a rel=\"nofollow noopener\" href=\"")
                .url(url)
                .add("\">")
                .text(label)
                .add("</a></li>\n");
        html.add("</ul>\n");
    }
    if (!text.requirements.empty()) {
        html.add("<h2>Requirements</h2>\n<ul>\n");
        for (const std::string& requirement : text.requirements)
            html.add("<li class=\"mono\">").add(render_requirement(requirement)).add("</li>\n");
        html.add("</ul>\n");
    }
    return html.add("<h2>News</h2>\n<p><a href=\"feed.xml\">Atom feed of new wheels</a></p>\n</aside>\n");
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

std::string render_project_page(const ProjectPage& page) {
    const Rows rows = rows_of(page.view, false);
    const std::vector<ShownWheel> wheels = newest_wheels(page, rows);
    const catalog::FileRow* newest = newest_row(page.view);
    const std::string name = page.text.name.empty() ? page.view.project : page.text.name;
    Html body("<h1>");
    body.text(name);
    if (newest != nullptr) body.add("<small>").text(newest->version).add("</small>");
    body.add("</h1>\n");
    if (!page.text.summary.empty()) body.add("<p class=\"lead\">").text(page.text.summary).add("</p>\n");
    body.add(render_notices(page.view)).add("<div class=\"columns\">\n<div>\n");
    body.add(render_install(page, wheels)).add(render_sites(page)).add(render_versions(page, rows, wheels));
    body.add(render_sdists(rows_of(page.view, true)));
    if (!page.text.description.empty()) {
        body.add(
            "<section aria-labelledby=\"description\">\n<h2 id=\"description\">Description</h2>\n<div "
            "class=\"description\">\n");
        body.add(render_description(page.text.description, page.text.description_type))
            .add("</div>\n</section>\n");
    }
    body.add("</div>\n").add(render_aside(page)).add("</div>\n");
    page::Frame frame;
    frame.farm = page.farm;
    frame.title = name + " – " + std::string(page.index);
    frame.root = "../../../";
    frame.description = page.text.summary;
    frame.trail = {{"../", std::string(page.index)}, {"../../builds/", "Builds"}};
    frame.scripts = {"common.js", "live.js"};
    frame.feed = "feed.xml";
    frame.data_root = "../../";
    return page::render_page(frame, body);
}

}  // namespace wheelyard::indexer
