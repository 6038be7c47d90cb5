#include "registry/api/access_api.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "lib/io/json.hpp"
#include "registry/api/query.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {

wire::Answered<http::ApiReply> show_access(const RegistryConfig& config, TokenVerifier& tokens,
                                           const http::ApiRequest& request) {
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
    return http::ApiReply{
        .status = 200,
        .json = io::Json::object(
                    {{"format", "wheelyard.access/1"},
                     {"index", index},
                     {"token", token->id},
                     {"name", token->name},
                     {"actions", std::move(actions)},
                     {"projects", std::move(projects)},
                     {"expires",
                      token->expires == 0 ? io::Json() : io::Json(base::render_rfc3339(token->expires))}})
                    .render()};
}

}  // namespace wheelyard::registry
