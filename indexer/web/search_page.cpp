// The search page. Its form works only with the script; the list below it needs none.
#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/search_form.hpp"

namespace wheelyard::indexer {

using page::Html;

namespace {

void add_tags(Html& html, const SearchEntry& entry) {
    const auto lists = {&entry.pythons, &entry.machines, &entry.gpus, &entry.uses};
    Html tags;
    for (const auto* list : lists) {
        for (const std::string& value : *list)
            tags.add("<li>").text(value).add("</li>");
    }
    if (!tags.is_empty()) html.add("<ul class=\"tags\">").add(tags).add("</ul>");
}

}  // namespace

std::string render_search_page(const page::Farm& farm, const std::string& index, const std::string& title,
                               const SearchList& list) {
    Html body("<h1>");
    body.text(title.empty() ? index : title).add("<small>").number(list.size());
    body.add(list.size() == 1 ? page::Literal(" project") : page::Literal(" projects"))
        .add("</small></h1>\n");
    body.add(page::render_search_form("")).add("<h2>Projects</h2>\n<ul id=\"results\" class=\"grid\">\n");
    std::size_t shown = 0;
    for (const auto& [name, entry] : list) {
        if (shown++ == max_listed_projects) break;
        body.add("<li class=\"card\"><h3><a href=\"")
            .url(base::encode_percent(name) + "/")
            .add("\">")
            .text(name);
        body.add("</a> <small class=\"quiet\">").text(entry.version).add("</small></h3><p class=\"quiet\">");
        body.text(entry.summary).add("</p>");
        add_tags(body, entry);
        body.add("</li>\n");
    }
    body.add("</ul>\n");
    if (list.size() > max_listed_projects)
        body.add("<p>The first ")
            .number(max_listed_projects)
            .add(" are shown. <a href=\"../simple/\">All names</a></p>\n");
    page::Frame frame;
    frame.farm = farm;
    frame.title = "Search " + index;
    frame.description =
        "All projects with wheels in " + index + ": find one by name, Python, machine or GPU.";
    frame.root = "../../";
    frame.trail = {{"./", index}, {"../builds/", "Builds"}};
    frame.scripts = {"common.js", "search.js"};
    return page::render_page(frame, body);
}

}  // namespace wheelyard::indexer
