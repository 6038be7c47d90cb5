// The search page of an index.
#include "indexer/web/index_pages.hpp"
#include "indexer/web/shown_index.hpp"
#include "indexer/web/shown_project.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

ProjectCard project_card(const std::string& folder, const std::string& name, const SearchEntry& entry) {
    return {.link = folder + base::encode_percent(name) + "/",
            .name = name,
            .version = entry.version,
            .summary = entry.summary,
            .pythons = base::join(entry.pythons, ","),
            .machines = base::join(entry.machines, ","),
            .gpus = base::join(entry.gpus, ",")};
}

std::string render_search_page(const FarmText& farm, const std::string& index, const SearchList& list,
                               std::size_t count) {
    ShownSearch shown;
    const auto title = farm.titles.find(index);
    shown.title = title == farm.titles.end() ? index : title->second;
    shown.projects = projects_text(farm, index, count);
    page::ShownSearchForm form;
    for (const auto& [name, entry] : list) {
        form.has_pythons = form.has_pythons || !entry.pythons.empty();
        form.has_machines = form.has_machines || !entry.machines.empty();
        form.has_gpus = form.has_gpus || !entry.gpus.empty();
        form.has_uses = form.has_uses || !entry.uses.empty();
        ProjectCard card = project_card("", name, entry);
        for (const auto* values : {&entry.pythons, &entry.machines, &entry.gpus, &entry.uses})
            card.tags.insert(card.tags.end(), values->begin(), values->end());
        shown.cards.push_back(page::render("card.html", card));
    }
    shown.form = page::render_search_form(form);
    if (count > list.size()) shown.first = list.size();
    page::Frame frame;
    frame.farm = frame_of(farm);
    frame.title = "Search " + index;
    frame.description =
        "All projects with wheels in " + index + ": find one by name, Python, machine or GPU.";
    frame.root = "../../";
    frame.feed = "feed.xml";
    frame.trail = {{"./", index}, {"../builds/", "Builds"}, {"../site/", "Sites"}};
    frame.scripts = {"common.js", "shards.js", "search.js"};
    frame.data_root = "../";
    return page::render_page(frame, page::render("search.html", shown));
}

}  // namespace wheelyard::indexer
