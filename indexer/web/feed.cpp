#include "indexer/web/feed.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "indexer/web/limits.hpp"
#include "indexer/web/wheel_facts.hpp"
#include "lib/page/html.hpp"

namespace wheelyard::indexer {

using page::Html;

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
    Html html(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>");
    html.text(view.project).add(" in ").text(index).add("</title>\n<id>urn:wheelyard:").text(index).add(":");
    html.text(view.project)
        .add(
            "</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"./\"/>\n<link rel=\"self\" "
            "type=\"application/atom+xml\" href=\"feed.xml\"/>\n<updated>");
    html.text(base::render_rfc3339(rows.empty() ? 0 : rows.front()->upload_time)).add("</updated>\n");
    html.add("<author><name>Wheelyard</name></author>\n");
    for (const auto* row : rows) {
        html.add("<entry>\n<title>").text(row->filename).add("</title>\n<id>urn:sha256:").text(row->sha256);
        html.add("</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"./#")
            .text(anchor_of(*row))
            .add("\"/>\n<updated>");
        html.text(base::render_rfc3339(row->upload_time)).add("</updated>\n</entry>\n");
    }
    return std::move(html.add("</feed>\n")).bytes();
}

}  // namespace wheelyard::indexer
