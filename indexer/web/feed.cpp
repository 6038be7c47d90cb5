// Atom feeds (RFC 4287), newest first.
#include "indexer/web/index_pages.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "indexer/web/limits.hpp"
#include "indexer/web/state_cell.hpp"
#include "indexer/web/wheel_facts.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::indexer {

using page::Html;

namespace {

// Up to its first entry. `id`: behind "urn:wheelyard:".
Html begin_feed(std::string_view title, std::string_view index, std::string_view id,
                base::UnixMicros updated) {
    Html html(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>");
    html.text(title).add(" in ").text(index).add("</title>\n<id>urn:wheelyard:").text(index).add(":");
    html.text(id).add(
        "</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"./\"/>\n<link rel=\"self\" "
        "type=\"application/atom+xml\" href=\"feed.xml\"/>\n<updated>");
    html.text(base::render_rfc3339(updated)).add("</updated>\n");
    return std::move(html.add("<author><name>Wheelyard</name></author>\n"));
}

}  // namespace

std::string render_feed(std::string_view index, const ProjectView& view) {
    std::vector<const catalog::FileRow*> rows;
    rows.reserve(view.files.size());
    for (const auto& row : view.files)
        rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
        return std::tuple(-a->upload_time, std::string_view(a->filename)) <
               std::tuple(-b->upload_time, std::string_view(b->filename));
    });
    if (rows.size() > max_feed_entries) rows.resize(max_feed_entries);
    Html html = begin_feed(view.project, index, view.project, rows.empty() ? 0 : rows.front()->upload_time);
    for (const auto* row : rows) {
        html.add("<entry>\n<title>").text(row->filename).add("</title>\n<id>urn:sha256:").text(row->sha256);
        html.add("</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"./#")
            .text(anchor_of(*row))
            .add("\"/>\n<updated>");
        html.text(base::render_rfc3339(row->upload_time)).add("</updated>\n</entry>\n");
    }
    return std::move(html.add("</feed>\n")).bytes();
}

std::string render_index_feed(std::string_view index, const SearchTop& top) {
    Html html = begin_feed("New wheels", index, "index",
                           top.newest.empty() ? 0 : top.newest.front().second.uploaded_s * micros_per_second);
    for (std::size_t at = 0; at < std::min(top.newest.size(), max_feed_entries); ++at) {
        const auto& [project, entry] = top.newest[at];
        html.add("<entry>\n<title>")
            .text(project)
            .add(" ")
            .text(entry.version)
            .add("</title>\n<id>urn:wheelyard:");
        html.text(index).add(":").text(project).add(":").text(std::to_string(entry.uploaded_s));
        html.add("</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"")
            .url(project)
            .add("/\"/>\n<updated>");
        html.text(base::render_rfc3339(entry.uploaded_s * micros_per_second)).add("</updated>\n");
        if (!entry.summary.empty()) html.add("<summary>").text(entry.summary).add("</summary>\n");
        html.add("</entry>\n");
    }
    return std::move(html.add("</feed>\n")).bytes();
}

std::string render_site_feed(std::string_view index, std::string_view site, const SiteWheels& wheels) {
    Html html = begin_feed(site, index, "site:" + std::string(site),
                           wheels.lines.empty() ? 0 : wheels.lines.front().uploaded_s * micros_per_second);
    for (std::size_t at = 0; at < std::min(wheels.lines.size(), max_feed_entries); ++at) {
        const SiteWheel& line = wheels.lines[at];
        html.add("<entry>\n<title>").text(line.project).add(" ").text(line.version).add(" for Python ");
        html.text(base::join(line.pythons, ", ")).add(" on ").text(base::join(line.nodes, ", "));
        html.add("</title>\n<id>urn:wheelyard:site:").text(site).add(":").text(line.sha256);
        html.add("</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"../../project/").url(line.project);
        html.add("/#").text(anchor_of(line.sha256)).add("\"/>\n<updated>");
        html.text(base::render_rfc3339(line.uploaded_s * micros_per_second)).add("</updated>\n</entry>\n");
    }
    return std::move(html.add("</feed>\n")).bytes();
}

std::string render_failure_feed(std::string_view index, const FarmReport& report) {
    std::vector<const ReportedBuild*> failures;
    for (const ReportedBuild& failure : report.failures) {
        if (!failure.ended.empty() && !failure.id.empty()) failures.push_back(&failure);
    }
    // Of several sites, each newest first; times of one form sort as texts do.
    std::stable_sort(failures.begin(), failures.end(),
                     [](const auto* a, const auto* b) { return a->ended > b->ended; });
    if (failures.size() > max_feed_entries) failures.resize(max_feed_entries);
    const auto newest = base::parse_rfc3339(failures.empty() ? "" : failures.front()->ended);
    Html html = begin_feed("Failed builds", index, "failures", newest.value_or(0));
    for (const ReportedBuild* failure : failures) {
        html.add("<entry>\n<title>").text(failure->package).add(" ").text(failure->version).add(" failed: ");
        html.text(place_text(*failure)).add("</title>\n<id>urn:wheelyard:failure:").text(failure->site);
        html.add(":").text(failure->id).add("</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"");
        html.add("build.html?site=").text(base::encode_percent(failure->site)).add("&amp;id=");
        html.text(base::encode_percent(failure->id));
        html.add("\"/>\n<updated>").text(failure->ended).add("</updated>\n<summary>").text(failure->cause);
        if (!failure->remedy.empty()) html.add("\nWhat to do: ").text(failure->remedy);
        html.add("</summary>\n</entry>\n");
    }
    return std::move(html.add("</feed>\n")).bytes();
}

}  // namespace wheelyard::indexer
