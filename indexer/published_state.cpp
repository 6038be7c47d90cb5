// The tree's own record of how far it has come.
#include "indexer/published_state.hpp"

#include "lib/io/json.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {
constexpr std::string_view format_name = "wheelyard.published/1";
}

std::string render_published_state(const PublishedState& state) {
    return Json::object({{"format", format_name},
                         {"serial", state.serial},
                         {"stale_roots", Json::array_of(state.stale_roots)}})
               .render() +
           "\n";
}

base::Result<PublishedState> parse_published_state(std::string_view text) {
    WHEELYARD_ASSIGN(const Json document, io::parse_json(text));
    const std::string format = document.string_or("format", "");
    if (format != format_name) {
        return base::fail("publish.state_format",
                          "This tree was published in a format that this program does not know", format,
                          "publish with the version that wrote it, or into a new folder");
    }
    PublishedState state;
    WHEELYARD_ASSIGN(state.serial, document.int_at("serial"));
    const Json* roots = document.find("stale_roots");
    if (roots == nullptr || roots->as_array() == nullptr || state.serial < 0) {
        return base::fail("publish.state_broken", "published.json lacks a member or has a wrong one",
                          std::string(text.substr(0, 200)),
                          "remove it: the next run then publishes everything anew, and harms nothing");
    }
    for (const Json& root : *roots->as_array()) {
        if (const std::string* name = root.as_string()) state.stale_roots.insert(*name);
    }
    return state;
}

}  // namespace wheelyard::indexer
