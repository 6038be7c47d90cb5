#include "registry/api/contains.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/store/catalog/file_members.hpp"

namespace wheelyard::registry {

namespace {

// Files that one reply of the search for a component looks at, and components in it.
constexpr std::size_t max_files_searched = 1'000;
constexpr std::size_t max_components_found = 1'000;

using io::Json;

template <auto member>
using InRow = catalog::InRow<member>;
bool is_quarantined(const catalog::FileRow& row) {
    return row.state == catalog::FileState::quarantined;
}
constexpr auto named_file_record = io::record<catalog::FileRow>({
    io::field_of<catalog::FileRow, InRow<&catalog::FileRow::index>>("index", "the index that has it"),
    io::field_of<catalog::FileRow, InRow<&catalog::FileRow::filename>>("filename", "its name"),
    io::field_of<catalog::FileRow, InRow<&catalog::FileRow::sha256>>("sha256", "its digest"),
    io::field_of<catalog::FileRow, io::Made<is_quarantined, io::Plain<bool>>>("quarantined",
                                                                              "whether it is in quarantine"),
});
constexpr auto component_record =
    io::record_of<Json, io::AsIs>("component", "as [the facts](facts.md) have it");
io::Document named_file_document() {
    return {.name = {}, .tables = {named_file_record.members}};
}
io::Document found_file_document() {
    return {.name = {}, .tables = {named_file_record.members, component_record.members}};
}
constexpr auto contains_record = io::record<ComponentsFound>(
    {
        io::field<io::ListOf<io::Rendered<found_file_document>>, &ComponentsFound::found>(
            "found", "a wheel and its component, for each that is meant"),
        io::field<io::ListOf<io::Rendered<named_file_document>>, &ComponentsFound::not_known>(
            "not_known", "wheels with more components than are kept, and none that is meant"),
    },
    "wheelyard.contains/1");
constexpr auto next_record =
    io::record_of<std::optional<std::string>>("next", "the `after` of the next page; null: there is none");

}  // namespace

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
    return named_file_record.write(row);
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
        component_record.write_into(wheel, one);
        found.push_back(std::move(wheel));
        is_found = true;
    }
    if (!is_found && facts->int_or("sbom_left_out", 0) > 0) not_known.push_back(found_file_json(row));
}

Json ComponentsFound::document() const {
    return contains_record.write(*this);
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
    std::optional<std::string> next;
    if (rows.size() == max_files_searched) next = rows.back().filename;
    for (const catalog::FileRow& row : rows) {
        const auto [project, is_new] = listed.try_emplace(row.project, sees_all);
        if (is_new && !sees_all && may_read(row.project)) {
            WHEELYARD_ASSIGN(const auto status, catalog.project(index, row.project));
            project->second = !status || status->status != catalog::ProjectStatus::quarantined;
        }
        if (project->second) all.look_in(row, query);
        if (all.found.size() < max_components_found) continue;
        if (&row != &rows.back()) next = row.filename;
        break;
    }
    Json document = all.document();
    next_record.write_into(document, next);
    return document.render();
}

io::Document contains_document() {
    return {.name = contains_record.format, .tables = {contains_record.members, next_record.members}};
}

}  // namespace wheelyard::registry
