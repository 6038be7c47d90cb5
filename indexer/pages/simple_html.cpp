// HTML5 by concatenation. Every value from an upload is escaped; hashes need no escaping.
#include "indexer/pages/simple_html.hpp"

#include <algorithm>
#include <string_view>

#include "indexer/tree/paths.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/simple/project_file.hpp"

namespace wheelyard::indexer {

namespace {

using simple::append_html_text;

void append_page_start(std::string& html, std::string_view title, std::string_view project = {},
                       std::string_view more_meta = {}) {
    const auto append_title = [&] {
        html.append(title);
        append_html_text(html, project);
    };
    html.append(
            "<!DOCTYPE html>\n"
            "<html lang=\"en\">\n"
            "<head>\n"
            "<meta charset=\"utf-8\">\n"
            "<meta name=\"pypi:repository-version\" content=\"1.0\">\n")
        .append(more_meta)
        .append("<title>");
    append_title();
    html.append("</title>\n</head>\n<body>\n<h1>");
    append_title();
    html.append("</h1>\n");
}

// PEP 792: no tag means active.
std::string status_meta(const ProjectView& view) {
    if (view.status == catalog::ProjectStatus::active) return {};
    const auto meta = [](std::string_view name, std::string_view content) {
        std::string tag = "<meta name=\"pypi:";
        tag.append(name).append("\" content=\"").append(base::escape_html(content)).append("\">\n");
        return tag;
    };
    std::string tags = meta("project-status", catalog::project_status_text(view.status));
    if (!view.status_reason.empty()) tags += meta("project-status-reason", view.status_reason);
    return tags;
}

constexpr std::string_view page_end = "</body>\n</html>\n";

void append_attribute(std::string& html, std::string_view name, std::string_view value) {
    html.append(" ").append(name).append("=\"");
    append_html_text(html, value);
    html.append("\"");
}

void append_file_row(std::string& html, const catalog::FileRow& row, const ProjectView& view,
                     std::string_view to_index) {
    html += "<a href=\"";
    append_file_link(html, row, to_index);
    html.append("#sha256=").append(row.sha256).append("\"");
    simple::append_html_attributes(html, row);
    // PEP 658's name of data-core-metadata is written too, unless METADATA's Name is not normalised: pip 22.3 to
    // 23.0 (Debian 12) reads only the older name and then rejects a project that is requested in another
    // spelling: `pip install pyyaml` fails with "inconsistent Name: PyYAML". Without it, pip downloads the wheel.
    if (!row.metadata_sha256.empty() && row.metadata_name == row.project)
        html.append(" data-dist-info-metadata=\"sha256=").append(row.metadata_sha256).append("\"");
    if (has_attestations_url(view, row))
        append_attribute(html, "data-provenance", attestations_url(view.root_url, row));
    html.append(">");
    append_html_text(html, row.filename);
    html.append("</a>");
    // For people: installers read the attribute.
    if (row.yanked) html.append(row.yanked_reason.empty() ? " yanked" : " yanked: ");
    if (row.yanked) append_html_text(html, row.yanked_reason);
    html.append("<br>\n");
}

}  // namespace

void append_html_row(std::string& rows, const catalog::FileRow& row, const ProjectView& view) {
    append_file_row(rows, row, view, "../../");
}

void append_project_html(std::string& html, const ProjectView& view, std::string_view rows) {
    append_page_start(html, "Links for ", view.project, status_meta(view));
    html += rows;
    for (const auto& file : view.variants) {
        html += "<a href=\"";
        append_variants_link(html, file);
        html.append("#sha256=").append(file.sha256).append("\"");
        simple::append_html_attributes(html, file);
        html.append(">");
        append_html_text(html, file.filename);
        html.append("</a><br>\n");
    }
    html += page_end;
}

std::string render_project_html(const ProjectView& view) {
    std::string rows;
    for (const auto& row : view.files)
        append_html_row(rows, row, view);
    std::string html;
    append_project_html(html, view, rows);
    return html;
}

std::string render_root_html(const std::vector<std::string>& projects) {
    std::string html;
    append_page_start(html, "Simple index");
    for (const auto& project : projects) {
        html += "<a";
        append_attribute(html, "href", base::encode_percent(project) + "/");
        html.append(">").append(base::escape_html(project)).append("</a><br>\n");
    }
    html += page_end;
    return html;
}

namespace {

constexpr std::string_view flat_title = "Links for all projects";
constexpr std::string_view project_start = "<h2>";  // every other "<" of the page is of a link
constexpr std::string_view project_end = "</h2>\n";

std::string flat_start() {
    std::string html;
    append_page_start(html, flat_title);
    return html;
}

}  // namespace

std::string render_flat_links(const ProjectView& view) {
    std::string html;
    if (view.files.empty()) return html;
    html.append(project_start).append(view.project).append(project_end);
    for (const auto& row : view.files)
        append_file_row(html, row, view, "../");
    return html;
}

std::string render_flat_html(const FlatLinks& links) {
    std::string html = flat_start();
    for (const auto& [project, text] : links)
        html += text;
    html += page_end;
    return html;
}

std::string render_flat_html_without_links() {
    std::string html = flat_start();
    html +=
        "<p>This index has too many files for one page. Use its Simple pages: --index-url …/simple/.</p>\n";
    html += page_end;
    return html;
}

std::optional<FlatLinks> parse_flat_html(std::string_view html) {
    const std::string start = flat_start();
    if (!html.starts_with(start) || !html.ends_with(page_end)) return std::nullopt;
    html.remove_prefix(start.size());
    html.remove_suffix(page_end.size());
    FlatLinks links;
    while (!html.empty()) {
        const auto name_end = html.find(project_end);
        if (!html.starts_with(project_start) || name_end == html.npos) return std::nullopt;
        const auto next = std::min(html.find(project_start, name_end), html.size());
        links.emplace(html.substr(project_start.size(), name_end - project_start.size()),
                      html.substr(0, next));
        html.remove_prefix(next);
    }
    return links;
}

}  // namespace wheelyard::indexer
