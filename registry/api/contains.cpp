#include "registry/api/contains.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::registry {

namespace {

// Files that one reply of the search for a component looks at, and components in it.
constexpr std::size_t max_files_searched = 1'000;
constexpr std::size_t max_components_found = 1'000;

}  // namespace

using io::Json;

bool is_component_version(std::string_view version, std::string_view wanted) {
    if (version == wanted) return true;
    const std::size_t colon = version.find(':');
    if (colon != std::string_view::npos &&
        std::all_of(version.begin(), version.begin() + static_cast<std::ptrdiff_t>(colon),
                    base::is_ascii_digit))
        version.remove_prefix(colon + 1);
    if (!version.starts_with(wanted)) return false;
    version.remove_prefix(wanted.size());
    if (version.empty() || version.front() == '-' || version.front() == '+' || version.front() == '~')
        return true;
    return version.size() > 1 && version.front() == '.' && base::is_ascii_alpha(version[1]);
}

Json found_file_json(const catalog::FileRow& row) {
    return Json::object({{"index", row.index},
                         {"filename", row.filename},
                         {"sha256", row.sha256},
                         {"quarantined", row.state == catalog::FileState::quarantined}});
}

void ComponentsFound::look_in(const catalog::FileRow& row, const ComponentQuery& query) {
    if (row.facts_json.find("\"sbom\"") == std::string::npos) return;
    const auto facts = io::parse_json(row.facts_json);
    if (!facts) return;
    bool is_found = false;
    for (const Json& one : facts->items("sbom")) {
        const std::string version = one.string_or("version", {});
        if (!base::matches_glob(base::ascii_lower(query.name),
                                base::ascii_lower(one.string_or("name", {}))) ||
            (!query.version.empty() && !is_component_version(version, query.version)) ||
            !base::matches_glob(base::ascii_lower(query.license),
                                base::ascii_lower(one.string_or("license", {}))))
            continue;
        Json wheel = found_file_json(row);
        wheel.set("component", one);
        found.push(std::move(wheel));
        is_found = true;
    }
    if (!is_found && facts->int_or("sbom_left_out", 0) > 0) not_known.push(found_file_json(row));
}

Json ComponentsFound::document() && {
    return Json::object({{"format", "wheelyard.contains/1"},
                         {"found", std::move(found)},
                         {"not_known", std::move(not_known)}});
}

base::Result<std::string> find_containing(const catalog::Catalog& catalog, const std::string& index,
                                          const ComponentQuery& query, const std::string& after,
                                          bool sees_all,
                                          const std::function<bool(const std::string& project)>& may_read) {
    WHEELYARD_ASSIGN(
        const auto rows,
        catalog.files_after(index, after, max_files_searched,
                            {.state = sees_all ? std::nullopt : std::optional(catalog::FileState::active)}));
    ComponentsFound all;
    std::map<std::string, bool> listed;  // by project
    Json next = rows.size() < max_files_searched ? Json() : Json(rows.back().filename);
    for (const catalog::FileRow& row : rows) {
        const auto [project, is_new] = listed.try_emplace(row.project, sees_all);
        if (is_new && !sees_all && may_read(row.project)) {
            WHEELYARD_ASSIGN(const auto status, catalog.project(index, row.project));
            project->second = !status || status->status != catalog::ProjectStatus::quarantined;
        }
        if (project->second) all.look_in(row, query);
        if (all.found.items().size() < max_components_found) continue;
        if (&row != &rows.back()) next = row.filename;
        break;
    }
    Json document = std::move(all).document();
    document.set("next", std::move(next));
    return document.render();
}

}  // namespace wheelyard::registry
