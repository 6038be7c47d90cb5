#include "builder/remote/access.hpp"

#include <algorithm>
#include <string_view>

#include "builder/remote/refusal.hpp"
#include "builder/remote/upload.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::builder {
namespace {

// What a token may do: its projects are its longest part.
constexpr std::uint64_t max_access_answer_bytes = base::mib;

constexpr std::string_view access_format = "wheelyard.access/1";
constexpr std::string_view upload_action = "upload";
constexpr std::string_view build_action = "build";

bool has(const std::vector<std::string>& list, std::string_view wanted) {
    return std::find(list.begin(), list.end(), wanted) != list.end();
}

Access refuse_all(const std::vector<std::string>& packages, const base::Error& error) {
    Access access{.refused_claims = error};
    for (const auto& package : packages)
        access.refused.emplace(package, error);
    return access;
}

std::optional<std::string> store_in(const io::Json& answer) {
    if (answer.find("store") == nullptr) return std::nullopt;
    return answer.string_or("store", "");
}

}  // namespace

Access judge_access_answer(const io::HttpAnswer& answer, const std::string& index,
                           const std::vector<std::string>& packages) {
    constexpr int status_ok = 200;
    if (answer.status != status_ok) {
        const auto problem = wire::parse_problem(answer.body);
        if (!problem || io::is_temporary_status(answer.status)) return {};
        if (refusal_of(problem->code) == Refusal::no_index)
            return refuse_all(packages, {"upload.no_index", "The registry has no index of this name", index,
                                         "correct `index` in [registry] of site.toml"});
        constexpr int status_unauthorised = 401;
        constexpr int status_forbidden = 403;
        if (answer.status == status_unauthorised || answer.status == status_forbidden)
            return refuse_all(packages,
                              {"upload.not_allowed",
                               "The registry does not accept the token: " + message_of(answer, problem),
                               problem->value, "put a valid token into the `token_file` of site.toml"});
        return {};
    }
    const auto shown = io::parse_json(answer.body);
    if (!shown || shown->string_or("format", "") != access_format) return {};
    const std::string token = shown->string_or("token", "");
    const std::string ask = "ask the registry's operator for a token: `wheelyard-registry token create ";
    const auto actions = shown->texts("actions");
    Access access;
    if (!has(actions, upload_action))
        access.refused =
            refuse_all(packages, {"upload.not_allowed", "The token may not upload to index " + index, token,
                                  ask + "--index " + index + " --action upload`"})
                .refused;
    if (!has(actions, build_action))
        access.refused_claims =
            base::Error{"task.not_allowed", "The token may not claim tasks of index " + index, token,
                        ask + "--index " + index + " --action build --action upload`"};
    access.store = store_in(*shown);
    const auto projects = shown->texts("projects");
    for (const auto& package : packages) {
        if (!has(projects, "*") && !has(projects, package))
            access.refused.emplace(
                package,
                base::Error{"upload.not_allowed", "The token may upload only " + base::join(projects, ", "),
                            token, ask + "--project " + package + "`"});
    }
    return access;
}

Access ask_access(io::HttpClient& http, const RegistrySettings& registry,
                  const std::vector<std::string>& packages) {
    if (packages.empty() && registry.claim_tasks == "no") return {};
    const auto token = read_token(registry.token_file);
    if (!token) return refuse_all(packages, token.error());
    const auto answer =
        http.get(registry.url + "/api/v1/indexes/" + base::encode_percent(registry.index) + "/access",
                 {{"Authorization", "Bearer " + *token}}, max_access_answer_bytes);
    return answer ? judge_access_answer(*answer, registry.index, packages) : Access();
}

}  // namespace wheelyard::builder
