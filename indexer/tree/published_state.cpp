// The JSON of published.json.
#include "indexer/tree/published_state.hpp"

#include <iterator>
#include <utility>

#include "lib/io/json.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {
constexpr std::string_view published_format = "wheelyard.published/2";
constexpr std::string_view read_by_token = "token";

Json render_stale(const StaleProject& stale) {
    Json deleted = Json::array();
    for (const auto& file : stale.deleted)
        deleted.push(tree_file_json(file));
    return Json::object(
        {{"index", stale.index}, {"project", stale.project}, {"deleted", std::move(deleted)}});
}

base::Result<StaleProject> parse_stale(const Json& document) {
    StaleProject stale;
    WHEELYARD_ASSIGN(stale.index, document.string_at("index"));
    WHEELYARD_ASSIGN(stale.project, document.string_at("project"));
    for (const Json& item : document.items("deleted")) {
        WHEELYARD_ASSIGN(TreeFile file, parse_tree_file(item));
        stale.deleted.insert(std::move(file));
    }
    return stale;
}
}  // namespace

Json tree_file_json(const TreeFile& file) {
    return Json::object({{"sha256", file.sha256}, {"filename", file.filename}});
}

base::Result<TreeFile> parse_tree_file(const Json& json) {
    TreeFile file;
    WHEELYARD_ASSIGN(file.sha256, json.string_at("sha256"));
    WHEELYARD_ASSIGN(file.filename, json.string_at("filename"));
    return file;
}

std::set<std::string> texts_of(const Json& document, std::string_view member) {
    auto texts = document.texts(member);
    return {std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end())};
}

namespace {

Json render_pages(const PagesState& pages) {
    Json titles = Json::object();
    for (const auto& [index, title] : pages.farm.titles)
        titles.set(index, title);
    return Json::object(
        {{"serial", pages.serial},
         {"look", pages.look},
         {"farm", Json::object({{"title", pages.farm.title},
                                {"text", pages.farm.text},
                                {"contact", pages.farm.contact},
                                {"style", pages.farm.style},
                                {"logo", pages.farm.logo},
                                {"titles", std::move(titles)},
                                {"hidden", Json::array_of(pages.farm.hidden)},
                                {"without_pages", Json::array_of(pages.farm.without_pages)}})}});
}

PagesState parse_pages(const Json& json) {
    PagesState pages{json.int_or("serial", 0), json.string_or("look", {}), {}};
    const Json* farm = json.find("farm");
    if (farm == nullptr) return pages;
    pages.farm.title = farm->string_or("title", {});
    pages.farm.text = farm->string_or("text", {});
    pages.farm.contact = farm->string_or("contact", {});
    pages.farm.style = farm->string_or("style", {});
    pages.farm.logo = farm->string_or("logo", {});
    pages.farm.hidden = texts_of(*farm, "hidden");
    pages.farm.without_pages = texts_of(*farm, "without_pages");
    const Json* titles = farm->find("titles");
    if (titles == nullptr || titles->as_object() == nullptr) return pages;
    for (const auto& [index, title] : *titles->as_object()) {
        if (const std::string* text = title.as_string()) pages.farm.titles.emplace(index, *text);
    }
    return pages;
}

}  // namespace

void forget_serial(PublishedState& state) {
    state.serial = 0;
    state.time = 0;
    state.kind.clear();
    state.pages = {.farm = std::move(state.pages.farm)};
}

std::string render_published_state(const PublishedState& state) {
    Json document = Json::object({{"format", published_format}, {"serial", state.serial}});
    if (state.time != 0) {
        document.set("time", base::render_rfc3339(state.time));
        document.set("kind", state.kind);
    }
    if (state.is_private) document.set("read", read_by_token);
    document.set("views", Json::array_of(state.views));
    document.set("stale_roots", Json::array_of(state.stale_roots));
    if (state.pages != PagesState{}) document.set("pages", render_pages(state.pages));
    if (!state.lagging.empty()) {
        Json lagging = Json::array();
        for (const auto& stale : state.lagging)
            lagging.push(render_stale(stale));
        document.set("lagging", std::move(lagging));
    }
    return document.render() + "\n";
}

base::Result<PublishedState> parse_published_state(std::string_view text) {
    WHEELYARD_ASSIGN(const Json document, io::parse_json(text));
    const std::string format = document.string_or("format", "");
    if (format != published_format) {
        return base::fail("publish.state_format", "Unsupported format of the tree's published.json", format,
                          "use the version that wrote it, or publish into a new folder");
    }
    PublishedState state;
    WHEELYARD_ASSIGN(state.serial, document.int_at("serial"));
    const Json* roots = document.find("stale_roots");
    if (roots == nullptr || roots->as_array() == nullptr || state.serial < 0) {
        return base::fail("publish.state_broken", "published.json has a missing or invalid member",
                          std::string(text.substr(0, 200)),
                          "remove it; the next run safely publishes everything again");
    }
    state.is_private = document.string_or("read", "") == read_by_token;
    state.stale_roots = texts_of(document, "stale_roots");
    state.views = texts_of(document, "views");
    const std::string time = document.string_or("time", "");
    if (!time.empty()) {
        WHEELYARD_ASSIGN(state.time, base::parse_rfc3339(time));
        state.kind = document.string_or("kind", "");
    }
    if (const Json* pages = document.find("pages")) state.pages = parse_pages(*pages);
    for (const Json& item : document.items("lagging")) {
        WHEELYARD_ASSIGN(StaleProject stale, parse_stale(item));
        state.lagging.insert(std::move(stale));
    }
    return state;
}

}  // namespace wheelyard::indexer
