// The search page. Its form works only with the script; the list below it needs none.
#include "indexer/web/index_pages.hpp"
#include "indexer/web/limits.hpp"
#include "indexer/web/shown_project.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/search_form.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

using page::Html;

ProjectCard project_card(const std::string& folder, const std::string& name, const SearchEntry& entry) {
    return {.link = folder + base::encode_percent(name) + "/",
            .name = name,
            .version = entry.version,
            .summary = entry.summary,
            .pythons = base::join(entry.pythons, ","),
            .machines = base::join(entry.machines, ","),
            .gpus = base::join(entry.gpus, ",")};
}

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
        ProjectCard card = project_card("", name, entry);
        for (const auto* values : {&entry.pythons, &entry.machines, &entry.gpus, &entry.uses})
            card.tags.insert(card.tags.end(), values->begin(), values->end());
        body.add(page::render("card.html", card));
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
    frame.trail = {{"./", index}, {"../builds/", "Builds"}, {"../site/", "Sites"}};
    frame.scripts = {"common.js", "search.js"};
    frame.data_root = "../";
    return page::render_page(frame, body);
}

}  // namespace wheelyard::indexer
