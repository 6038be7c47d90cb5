// One JSON document. If it is lost, the next round checks every project but fetches no file twice.
#include "indexer/tree/followed_state.hpp"

#include <utility>

#include "indexer/tree/limits.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;
using io::Json;

namespace {
constexpr std::string_view followed_format = "wheelyard.followed/1";
}  // namespace

fs::path followed_file(const fs::path& tree, std::string_view index) {
    return state_folder(tree) / ("followed-" + std::string(index) + ".json");
}

std::string render_followed_state(const FollowedState& state) {
    Json gone = Json::array();
    for (const auto& [project, files] : state.gone) {
        for (const auto& file : files) {
            Json item = tree_file_json(file);
            item.set("project", project);
            gone.push(std::move(item));
        }
    }
    const FollowedCatalogue& catalogue = state.catalogue;
    return Json::object({{"format", followed_format},
                         {"from", state.from},
                         {"serial", state.serial},
                         {"lagging", Json::array_of(state.lagging)},
                         {"gone", std::move(gone)},
                         {"catalogue", Json::object({{"waiting", Json::array_of(catalogue.waiting)},
                                                     {"base_etag", catalogue.base_etag},
                                                     {"delta_etag", catalogue.delta_etag}})}})
               .render() +
           "\n";
}

base::Result<FollowedState> parse_followed_state(std::string_view text) {
    WHEELYARD_ASSIGN(const Json document, io::parse_json(text));
    if (document.string_or("format", "") != followed_format) {
        return base::fail("follow.state_format", "Unsupported format of the tree's follow state",
                          document.string_or("format", ""),
                          "remove the file; the next round checks every project");
    }
    FollowedState state;
    WHEELYARD_ASSIGN(state.from, document.string_at("from"));
    WHEELYARD_ASSIGN(state.serial, document.int_at("serial"));
    state.lagging = texts_of(document, "lagging");
    if (const Json* catalogue = document.find("catalogue")) {
        state.catalogue = {.waiting = texts_of(*catalogue, "waiting"),
                           .base_etag = catalogue->string_or("base_etag", ""),
                           .delta_etag = catalogue->string_or("delta_etag", "")};
    }
    for (const Json& item : document.items("gone")) {
        WHEELYARD_ASSIGN(const auto project, item.string_at("project"));
        WHEELYARD_ASSIGN(TreeFile file, parse_tree_file(item));
        state.gone[project].insert(std::move(file));
    }
    return state;
}

base::Result<FollowedState> read_followed_state(Disk& disk, const fs::path& tree, std::string_view index) {
    const fs::path file = followed_file(tree, index);
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (!size) return FollowedState{};
    WHEELYARD_ASSIGN(const auto text, disk.read(file, max_state_bytes));
    return parse_followed_state(text);
}

}  // namespace wheelyard::indexer
