// Parses targets: splits the path, decodes each segment, then matches by count and fixed words.
#include "registry/http/routes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/assets.hpp"
#include "lib/page/farm.hpp"
#include "lib/page/places.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/version.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace {

constexpr std::size_t max_segments = 8;

tl::unexpected<wire::Problem> bad_target(std::string detail, std::string_view target) {
    return wire::refuse("request.target", "Bad request target", std::move(detail),
                        std::string(target.substr(0, 200)), "check the URL");
}

tl::unexpected<wire::Problem> not_found(std::string_view path) {
    return wire::refuse("request.not_found", "Not found", "This URL does not exist.",
                        std::string(path.substr(0, 200)),
                        "indexes are at /<index>/simple/, uploads go to /<index>/legacy/");
}

struct Split {
    std::string_view path;
    std::string_view query;  // without '?'
};

std::optional<Split> split_target(std::string_view target) {
    const std::string_view path = path_of_target(target);
    if (path.empty()) return std::nullopt;
    const auto mark = target.find('?');
    return Split{path, mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1)};
}

// Says whether a decoded segment is a possible name: printable ASCII without separators, not starting with a
// dot, so that neither `..` nor hidden files of the tree can be requested.
bool is_plain_segment(std::string_view segment) {
    if (segment.empty() || segment.size() > max_segment_bytes || segment[0] == '.') return false;
    return std::all_of(segment.begin(), segment.end(),
                       [](char c) { return c > ' ' && c < '\x7f' && c != '/' && c != '\\'; });
}

bool is_index_name(std::string_view name) {
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return base::is_ascii_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

struct Path {
    std::vector<std::string> segments;  // decoded
    bool ends_in_slash = false;
};

Answered<Path> parse_path(std::string_view path, std::string_view target) {
    Path parsed;
    if (path == "/") return Path{{}, true};
    path.remove_prefix(1);
    if (path.ends_with('/')) {
        parsed.ends_in_slash = true;
        path.remove_suffix(1);
    }
    parsed.segments.reserve(max_segments);
    for (const std::string_view raw : base::split(path, '/')) {
        if (parsed.segments.size() == max_segments) return not_found(target);
        auto segment = base::decode_percent(raw);
        if (!segment) return bad_target("The percent-encoding of the path is invalid.", target);
        if (!is_plain_segment(*segment))
            return bad_target(
                "A path segment is empty, begins with a dot, is too long or contains invalid characters.",
                target);
        parsed.segments.push_back(std::move(*segment));
    }
    return parsed;
}

// Reads ?format= (PEP 691); other parameters are ignored.
Answered<std::optional<PageForm>> parse_format(std::string_view query) {
    for (const std::string_view parameter : base::split(query, '&')) {
        if (!parameter.starts_with("format=")) continue;
        const auto value = base::decode_percent(parameter.substr(7));
        const auto form = value ? page_form_named(*value) : std::nullopt;
        if (!form)
            return wire::refuse("page.format", "Not acceptable", "Pages are not available in this format.",
                                std::string(parameter.substr(7, 200)),
                                "use application/vnd.pypi.simple.v1+json or text/html");
        return std::optional<PageForm>(*form);
    }
    return std::optional<PageForm>();
}

Route redirect(std::string path, std::string_view query) {
    Route route{RouteKind::redirect};
    route.location = std::move(path);
    if (!query.empty()) route.location.append("?").append(query);
    return route;
}

std::optional<PageForm> form_of_page_file(std::string_view name) {
    if (name == "index.html") return PageForm::html;
    if (name == "index.json") return PageForm::json;
    return std::nullopt;
}

// The page of every file, for --find-links (docs/reference/published-tree.md).
Answered<Route> parse_flat_page(const Path& path, const Split& split) {
    const std::vector<std::string>& parts = path.segments;
    if (parts.size() == 2 && !path.ends_in_slash) {
        Route moved = redirect("/" + base::encode_percent(parts[0]) + "/find-links/", split.query);
        moved.index = parts[0];
        return moved;
    }
    const bool names_file = parts.size() == 3 && !path.ends_in_slash && parts[2] == "index.html";
    if (parts.size() != 2 && !names_file) return not_found(split.path);
    Route route{RouteKind::listing, parts[0]};
    route.filename = "find-links/index.html";
    return route;
}

constexpr std::string_view status_listing = "status.json";

// Text files of the published tree for Wheelyard's own programs.
std::optional<Route> parse_listing(const Path& path) {
    const std::vector<std::string>& parts = path.segments;
    if (path.ends_in_slash) return std::nullopt;
    if (parts.size() == 2 && parts[1] == status_listing) {
        Route route{RouteKind::listing, parts[0]};
        route.filename = parts[1];
        return route;
    }
    if (parts.size() != 3) return std::nullopt;
    const bool is_wheel_list =
        parts[1] == "simple" && (parts[2] == "catalogue.txt" || parts[2] == "catalogue-delta.txt");
    if (!is_wheel_list) return std::nullopt;
    Route route{RouteKind::listing, parts[0]};
    route.filename = parts[1] + "/" + parts[2];
    return route;
}

// /<index>/<folder>/[<file>] and, of a folder for each project or site, /<index>/<folder>/<name>/[<file>]
Answered<Route> parse_web_page(const page::Place& place, const Path& path, const Split& split) {
    const std::vector<std::string>& parts = path.segments;
    Route route{RouteKind::web_page, parts[0]};
    route.filename = parts[1] + "/";
    const auto is_file_of_index = [&](std::string_view name) {
        return page::has_file(place.files, name) || (place.has_projects() && page::is_shard(name));
    };
    const bool names_project = place.has_projects() && parts.size() > 2 &&
                               (parts.size() > 3 || path.ends_in_slash || !is_file_of_index(parts[2]));
    if (names_project) {
        if (!wheel::is_valid_name(parts[2])) return not_found(split.path);
        route.project = wheel::normalize_name(parts[2]);
        route.filename += route.project + "/";
    }
    const bool names_site =
        !place.site_files.empty() && parts.size() > 2 &&
        (parts.size() > 3 || path.ends_in_slash || !page::has_file(place.files, parts[2]));
    if (names_site) {
        if (!is_index_name(parts[2])) return not_found(split.path);
        route.filename += parts[2] + "/";
    }
    const std::size_t read = names_project || names_site ? 3 : 2;
    const auto has_file = [&](std::string_view name) {
        if (names_project) return page::has_file(place.project_files, name);
        return names_site ? page::has_file(place.site_files, name) : is_file_of_index(name);
    };
    const bool names_file = parts.size() == read + 1 && !path.ends_in_slash && has_file(parts[read]);
    if (parts.size() != read && !names_file) return not_found(split.path);
    const bool lacks_slash = !names_file && !path.ends_in_slash;
    if (lacks_slash || (names_project && route.project != parts[2])) {
        // A normalized name needs no percent-encoding.
        Route moved = redirect(
            "/" + base::encode_percent(parts[0]) + "/" + route.filename + (names_file ? parts[read] : ""),
            split.query);
        moved.index = parts[0];
        moved.project = route.project;
        return moved;
    }
    route.filename += names_file ? parts[read] : "index.html";
    return route;
}

// /<index>/simple/…
Answered<Route> parse_page(const Path& path, const Split& split) {
    const std::vector<std::string>& parts = path.segments;
    Route route{RouteKind::root_page, parts[0]};
    const std::string root = "/" + base::encode_percent(parts[0]) + "/simple/";
    if (parts.size() == 2 && !path.ends_in_slash) {
        Route moved = redirect(root, split.query);
        moved.index = parts[0];
        return moved;
    }
    std::size_t read = 2;
    const bool names_project =
        parts.size() > 2 && (path.ends_in_slash || !form_of_page_file(parts[2]) || parts.size() > 3);
    if (names_project) {
        if (!wheel::is_valid_name(parts[2])) return not_found(split.path);
        route.kind = RouteKind::project_page;
        route.project = wheel::normalize_name(parts[2]);
        ++read;
    }
    if (names_project && parts.size() == read + 2 && !path.ends_in_slash && route.project == parts[2] &&
        base::is_sha256_hex(parts[read])) {  // a version's variants (PEP 825), in the folder of its hash
        route.kind = RouteKind::file;
        route.sha256 = parts[read];
        route.filename = parts[read + 1];
        return route;
    }
    if (parts.size() == read + 1 && !path.ends_in_slash) {
        route.form = form_of_page_file(parts[read]);
        if (!route.form) return not_found(split.path);
        route.names_page_file = true;
    } else if (parts.size() != read) {
        return not_found(split.path);
    }
    if (names_project && (route.project != parts[2] || (!route.form && !path.ends_in_slash))) {
        std::string location = root + base::encode_percent(route.project) + "/";
        if (route.form) location += parts[read];
        Route moved = redirect(std::move(location), split.query);
        moved.index = parts[0];
        moved.project = route.project;
        return moved;
    }
    if (!route.form) {
        auto form = parse_format(split.query);
        if (!form) return tl::unexpected(std::move(form.error()));
        route.form = *form;
    }
    return route;
}

// /<index>/files/ab/<sha256>/<filename>
Answered<Route> parse_file(const Path& path, const Split& split) {
    const std::vector<std::string>& parts = path.segments;
    if (parts.size() != 5 || path.ends_in_slash) return not_found(split.path);
    if (!base::is_sha256_hex(parts[3]) || parts[3].substr(0, 2) != parts[2]) return not_found(split.path);
    Route route{RouteKind::file, parts[0]};
    route.sha256 = parts[3];
    route.filename = parts[4];
    return route;
}

// /<index>/pypi/<project>/[<version>/]json
Answered<Route> parse_pypi(const Path& path, const Split& split) {
    const std::vector<std::string>& parts = path.segments;
    const bool has_version = parts.size() == 5;
    if ((parts.size() != 4 && !has_version) || path.ends_in_slash || parts.back() != "json" ||
        !wheel::is_valid_name(parts[2]))
        return not_found(split.path);
    Route route{RouteKind::pypi_json, parts[0]};
    route.project = wheel::normalize_name(parts[2]);
    if (!has_version) return route;
    const auto version = wheel::Version::parse(parts[3]);
    if (!version) return not_found(split.path);
    route.version = version->text();
    return route;
}

// /<index>/integrity/<project>/<version>/<filename>/provenance
Answered<Route> parse_integrity(const Path& path, const Split& split) {
    const std::vector<std::string>& parts = path.segments;
    if (parts.size() != 6 || path.ends_in_slash || parts[5] != "provenance" ||
        !wheel::is_valid_name(parts[2]))
        return not_found(split.path);
    Route route{RouteKind::integrity, parts[0]};
    route.project = wheel::normalize_name(parts[2]);
    route.filename = parts[4];
    const auto version = wheel::Version::parse(parts[3]);
    if (!version) return not_found(split.path);
    route.version = version->text();
    return route;
}

// "{name}" in a template matches any one segment. The table is short, so a linear search is fast enough.
std::optional<std::map<std::string, std::string, std::less<>>> match_path(std::string_view path_template,
                                                                          const Path& path) {
    std::map<std::string, std::string, std::less<>> parameters;
    if (path_template.ends_with('/') != path.ends_in_slash) return std::nullopt;
    path_template.remove_prefix(1);
    if (path.ends_in_slash) path_template.remove_suffix(1);
    std::size_t at = 0;
    for (const std::string_view part : base::split(path_template, '/')) {
        if (at == path.segments.size()) return std::nullopt;
        const std::string& segment = path.segments[at++];
        if (part.starts_with('{'))
            parameters.emplace(part.substr(1, part.size() - 2), segment);
        else if (part != segment)
            return std::nullopt;
    }
    if (at != path.segments.size()) return std::nullopt;
    return parameters;
}

constexpr std::string_view api_root = "/api/v1/";

// /api/v1/… and /_/oidc/…
Answered<Route> parse_api(const Path& path, const Split& split, Operations api) {
    if (split.path == api_root) return Route{RouteKind::operators};
    if (split.path == "/api/v1/openapi.json") return Route{RouteKind::openapi};
    for (const Operations part : {page_operations(), api}) {
        for (const Operation& operation : part) {
            if (!operation.path.starts_with(api_root) && !operation.path.starts_with(publishing_root))
                continue;
            auto parameters = match_path(operation.path, path);
            if (!parameters) continue;
            Route route{part.data() == api.data() ? RouteKind::api : RouteKind::login};
            route.api_path = operation.path;
            route.parameters = std::move(*parameters);
            route.query = split.query;
            return route;
        }
    }
    return wire::refuse("request.not_found", "Not found", "The API has no such route.",
                        std::string(split.path.substr(0, 200)), "see /api/v1/openapi.json for all routes");
}

}  // namespace

Answered<Route> parse_target(std::string_view target, Operations api) {
    if (target.size() > max_target_bytes)
        return wire::refuse("request.target_too_long", "URI too long",
                            "The request target is longer than any URL of this server.",
                            std::to_string(target.size()) + " bytes", "check the URL");
    if (std::any_of(target.begin(), target.end(), [](char c) { return c <= ' ' || c >= '\x7f' || c == '#'; }))
        return bad_target("The request target contains characters that are invalid in a URL.",
                          target.substr(0, 0));
    const auto split = split_target(target);
    if (!split) return bad_target("The request target is not a path.", target);
    auto path = parse_path(split->path, target);
    if (!path) return tl::unexpected(std::move(path.error()));
    const std::vector<std::string>& parts = path->segments;

    if (parts.empty()) return Route{RouteKind::front};
    if (parts.size() == 1 && !path->ends_in_slash) {
        if (parts[0] == "healthz") return Route{RouteKind::health};
        if (parts[0] == "readyz") return Route{RouteKind::readiness};
        if (parts[0] == "metrics") return Route{RouteKind::metrics};
    }
    if (parts[0] == "api" || parts[0] == "_") return parse_api(*path, *split, api);
    if (parts[0] == "packages" && parts.size() > 1) {
        Path file = *path;
        file.segments[0] = file.segments[1];
        file.segments[1] = "files";
        if (!is_index_name(file.segments[0])) return not_found(split->path);
        return parse_file(file, *split);
    }
    if (!is_index_name(parts[0])) return not_found(split->path);
    if (parts.size() == 1) {
        if (path->ends_in_slash) return Route{RouteKind::index_front, parts[0]};
        if (page::find_asset(parts[0]) != nullptr || page::is_farm_file_name(parts[0])) {
            Route route{RouteKind::asset};
            route.filename = parts[0];
            return route;
        }
        // Only an index has a page: /favicon.ico is 404, not a redirect.
        Route route = redirect("/" + base::encode_percent(parts[0]) + "/", split->query);
        route.index = parts[0];
        return route;
    }
    if (auto listing = parse_listing(*path)) return *std::move(listing);
    if (parts[1] == "simple") return parse_page(*path, *split);
    if (const page::Place* place = page::find_place(parts[1])) return parse_web_page(*place, *path, *split);
    if (parts[1] == "find-links") return parse_flat_page(*path, *split);
    if (parts[1] == "files") return parse_file(*path, *split);
    if (parts[1] == "pypi") return parse_pypi(*path, *split);
    if (parts[1] == "integrity") return parse_integrity(*path, *split);
    if (parts[1] == "legacy" && parts.size() == 2) return Route{RouteKind::upload, parts[0]};
    if (parts[1] == "uploads" && parts.size() == 2 && path->ends_in_slash)
        return Route{RouteKind::resumable, parts[0]};
    if (parts[1] == "uploads" && parts.size() == 3 && !path->ends_in_slash) {
        Route route{RouteKind::resumable_part, parts[0]};
        route.upload_id = parts[2];
        return route;
    }
    return not_found(split->path);
}

std::string allowed_methods(const Route& route, Operations api) {
    if (route.kind == RouteKind::upload || route.kind == RouteKind::resumable) return "POST";
    if (route.kind == RouteKind::resumable_part) return "HEAD, PATCH, DELETE";
    if (route.kind != RouteKind::api) return "GET, HEAD";
    std::string allowed;
    for (const Operation& operation : api) {
        if (operation.path != route.api_path) continue;
        allowed.append(allowed.empty() ? "" : ", ").append(operation.method);
        if (operation.method == "GET") allowed.append(", HEAD");
    }
    return allowed;
}

const Operation* find_operation(Operations api, std::string_view method, std::string_view api_path) {
    if (method == "HEAD") method = "GET";
    for (const Operation& operation : api)
        if (operation.method == method && operation.path == api_path) return &operation;
    return nullptr;
}

std::string_view name_of(RouteKind kind) {
    static constexpr std::array<std::string_view, route_kinds> names{
        "front",   "health", "readiness", "metrics", "openapi",   "operators",      "login",
        "api",     "index",  "root",      "page",    "file",      "web_page",       "asset",
        "listing", "pypi",   "integrity", "upload",  "resumable", "resumable_part", "redirect"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace wheelyard::http
