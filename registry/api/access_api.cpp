#include "registry/api/access_api.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "registry/api/query.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

// The digest of the store's first event: no event changes or goes, and the copies that a restoration makes have it,
// too. Null: nothing was published yet.
base::Result<io::Json> id_of(const database::Store& store) {
    WHEELYARD_ASSIGN(const auto catalog, store.reader());
    WHEELYARD_ASSIGN(const auto events, catalog->events_after(0, 1));
    if (events.empty()) return io::Json();
    const catalog::Event& first = events.front();
    return io::Json(base::sha256_hex(base::join(
        std::vector<std::string>{std::to_string(first.time), first.index, first.project, first.filename},
        "\n")));
}

}  // namespace

wire::Answered<http::ApiReply> show_access(const RegistryConfig& config, const database::Store& store,
                                           TokenVerifier& tokens, const http::ApiRequest& request) {
    const auto token = tokens.verify(request.authorization);
    if (!token) return tl::unexpected(token.error());
    const std::string index = parameter(request, "index");
    if (config.find_index(index) == nullptr || !may_know(config, *token, index))
        return refuse("index.unknown", "There is no index with this name", index, "GET / lists the indexes");
    io::Json actions = io::Json::array();
    for (const std::string& action : token_actions()) {
        if (allows(*token, index, {}, action)) actions.push(action);
    }
    io::Json projects = io::Json::array();
    for (const std::string& project : token->projects)
        projects.push(project);
    io::Json access = io::Json::object(
        {{"format", "wheelyard.access/1"},
         {"index", index},
         {"token", token->id},
         {"name", token->name},
         {"actions", std::move(actions)},
         {"projects", std::move(projects)},
         {"expires", token->expires == 0 ? io::Json() : io::Json(base::render_rfc3339(token->expires))}});
    if (auto id = id_of(store))
        access.set("store", std::move(*id));
    else
        io::log_error("index.read_failed", {{"request", request.request_id}, {"error", id.error().text()}});
    return http::ApiReply{.status = 200, .json = access.render()};
}

}  // namespace wheelyard::registry
