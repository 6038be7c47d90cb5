// HTML5 by concatenation. Every value from an upload is escaped; hashes need no escaping.
#include "indexer/pages/simple_html.hpp"

#include <algorithm>
#include <string_view>

#include "indexer/tree/paths.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::indexer {

namespace {

// Checked for every byte of every page, so one table lookup per byte; find_first_of calls memchr for each.
constexpr base::ByteSet special("&<>\"'");

bool is_plain_html(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return special.has(c); });
}

void append_escaped(std::string& html, std::string_view text) {
    if (is_plain_html(text))
        html.append(text);
    else
        html.append(base::escape_html(text));
}

void append_page_start(std::string& html, std::string_view title, std::string_view project = {},
                       std::string_view more_meta = {}) {
    const auto append_title = [&] {
        html.append(title);
        append_escaped(html, project);
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
    append_escaped(html, value);
    html.append("\"");
}

// PEP 658 names the attribute data-dist-info-metadata, PEP 714 data-core-metadata. Both are written unless
// METADATA's Name is not normalised: pip 22.3 to 23.0 (Debian 12) reads only the older name and then rejects
// a project that is requested in another spelling: `pip install pyyaml` fails with "inconsistent Name:
// PyYAML". Without the older name, it downloads the wheel.
void append_metadata(std::string& html, const catalog::FileRow& row) {
    html.append(" data-core-metadata=\"sha256=").append(row.metadata_sha256).append("\"");
    if (row.metadata_name == row.project)
        html.append(" data-dist-info-metadata=\"sha256=").append(row.metadata_sha256).append("\"");
}

// No PEP names it: PyTorch's index writes it and uv reads it, for `exclude-newer`.
void append_upload_time(std::string& html, base::UnixMicros time) {
    html.append(" data-upload-time=\"");
    base::append_rfc3339(html, time);
    html.append("\"");
}

void append_file_row(std::string& html, const catalog::FileRow& row, const ProjectView& view,
                     std::string_view to_index) {
    html += "<a href=\"";
    append_file_link(html, row, to_index);
    html.append("#sha256=").append(row.sha256).append("\"");
    append_upload_time(html, row.upload_time);
    if (!row.requires_python.empty()) append_attribute(html, "data-requires-python", row.requires_python);
    if (row.yanked) append_attribute(html, "data-yanked", row.yanked_reason);
    if (!row.metadata_sha256.empty()) append_metadata(html, row);
    if (has_attestations_url(view, row))
        append_attribute(html, "data-provenance", attestations_url(view.root_url, row));
    html.append(">");
    append_escaped(html, row.filename);
    html.append("</a>");
    // For people: installers read the attribute.
    if (row.yanked) html.append(row.yanked_reason.empty() ? " yanked" : " yanked: ");
    if (row.yanked) append_escaped(html, row.yanked_reason);
    html.append("<br>\n");
}

}  // namespace

void append_project_html(std::string& html, const ProjectView& view) {
    constexpr std::size_t typical_file_bytes = 600;
    html.reserve(html.size() + (view.files.size() + 1) * typical_file_bytes);
    append_page_start(html, "Links for ", view.project, status_meta(view));
    for (const auto& row : view.files)
        append_file_row(html, row, view, "../../");
    for (const auto& file : view.variants) {
        html += "<a href=\"";
        append_variants_link(html, file);
        html.append("#sha256=").append(file.sha256).append("\"");
        append_upload_time(html, file.upload_time);
        html.append(">");
        append_escaped(html, file.filename);
        html.append("</a><br>\n");
    }
    html += page_end;
}

std::string render_project_html(const ProjectView& view) {
    std::string html;
    append_project_html(html, view);
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
