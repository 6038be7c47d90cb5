#include "registry/api/readers.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/store/catalog/marks.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "registry/access/reading_cookie.hpp"
#include "registry/http/front_pages.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {

bool is_advertised(const RegistryConfig& config, const IndexConfig& index) {
    return !index.is_archived &&
           std::none_of(config.indexes.begin(), config.indexes.end(),
                        [&](const IndexConfig& other) { return other.staging == index.name; });
}

tl::unexpected<wire::Problem> unknown_index(const RegistryConfig& config, const std::string& index) {
    std::vector<http::IndexEntry> known;
    for (const IndexConfig& one : config.indexes) {
        if (is_advertised(config, one)) known.push_back({.name = one.name, .is_private = one.is_private});
    }
    return wire::refuse("index.unknown", "There is no index with this name",
                        "There is no index with this name" + http::but_one_like(index, known) + ".", index,
                        "GET / lists the indexes");
}

bool may_know(const RegistryConfig& config, const catalog::TokenRow& token, std::string_view index) {
    return !config.is_private(index) ||
           std::any_of(token.actions.begin(), token.actions.end(),
                       [&](const std::string& action) { return allows(token, index, {}, action); });
}

bool may_read(const RegistryConfig& config, const catalog::TokenRow& token, std::string_view index,
              std::string_view project) {
    if (!config.is_private(index)) return true;
    return project.empty() ? may_read_all(config, token, index) : allows(token, index, project, read_action);
}

bool may_read_all(const RegistryConfig& config, const catalog::TokenRow& token, std::string_view index) {
    if (!config.is_private(index)) return true;
    const bool all_projects =
        std::find(token.projects.begin(), token.projects.end(), "*") != token.projects.end();
    return all_projects && allows(token, index, {}, read_action);
}

std::vector<std::string> readable_private(const RegistryConfig& config, const catalog::TokenRow& token) {
    std::vector<std::string> names;
    for (const IndexConfig& index : config.indexes) {
        if (index.is_private && allows(token, index.name, {}, read_action)) names.push_back(index.name);
    }
    return names;
}

std::vector<std::string> known_indexes(const RegistryConfig& config, const catalog::TokenRow& token) {
    std::vector<std::string> names = config.index_names();
    std::erase_if(names, [&](const std::string& index) { return !may_know(config, token, index); });
    return names;
}

wire::Answered<const IndexConfig*> index_to_read(const RegistryConfig& config,
                                                 const std::optional<Identity>& caller,
                                                 const std::string& index, std::string_view project) {
    const IndexConfig* found = config.find_index(index);
    const bool may =
        found != nullptr && (caller ? may_read(config, *caller, index, project) : !config.is_private(index));
    if (may) return found;
    return unknown_index(config, index);
}

bool may_read_logs(const RegistryConfig& config, const std::optional<Identity>& caller,
                   const IndexConfig& index, std::string_view project) {
    if (caller && allows(*caller, index.name, project, read_action)) return true;
    if (index.are_logs_for_tokens) return false;
    return caller ? may_read(config, *caller, index.name, project) : !config.is_private(index.name);
}

std::string project_of_filename(const std::string& filename) {
    if (catalog::is_version_name(filename)) return catalog::mark_named({{}, filename}).project;
    std::string_view name = filename;
    for (const std::string_view suffix : {".metadata", ".prov", ".pep740"}) {
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    }
    // The name of an upstream's sdist may have dashes before its version: its first part may be another
    // project.
    if (wheel::is_sdist_filename(name)) {
        const auto sdist = wheel::parse_sdist_filename(name);
        return sdist ? sdist->project : std::string();
    }
    const std::string stem = filename.substr(0, filename.find('-'));
    return wheel::is_valid_name(stem) ? wheel::normalize_name(stem) : std::string();
}

namespace {

// A client asks its user for other credentials after 401, and not after 403.
wire::Problem as_challenge(wire::Problem problem) {
    if (problem.status == 403) problem.status = 401;
    return problem;
}

}  // namespace

std::optional<wire::Problem> Readers::refuse_at_sight(const std::string& authorization) {
    if (!cookies_of_authorization(authorization).empty()) return std::nullopt;
    auto sent = token_sent(authorization);
    if (sent) return std::nullopt;
    return as_challenge(std::move(sent.error()));
}

namespace {

bool is_permitted(const RegistryConfig& config, const catalog::TokenRow& token,
                  const http::ReadRequest& request) {
    switch (request.scope) {
        case http::ReadScope::index_exists:
            return may_know(config, token, request.index);
        case http::ReadScope::some_project:
            return allows(token, request.index, {}, read_action);
        case http::ReadScope::project: {
            const std::string project =
                request.filename.empty() ? request.project : project_of_filename(request.filename);
            return registry::may_read(config, token, request.index, project);
        }
        case http::ReadScope::all_projects:
            break;
    }
    return may_read_all(config, token, request.index);
}

}  // namespace

wire::Answered<http::Reader> Readers::may_read(const http::ReadRequest& request) {
    const auto token = tokens_.verify_reader(request.authorization, request.index);
    if (!token) return tl::unexpected(as_challenge(token.error()));
    return http::Reader{is_permitted(config_.held(), *token, request), token->id};
}

std::vector<std::string> Readers::readable(const std::string& authorization) {
    const auto token = tokens_.verify(authorization);
    if (!token) return {};
    return readable_private(config_.held(), *token);
}

}  // namespace wheelyard::registry
