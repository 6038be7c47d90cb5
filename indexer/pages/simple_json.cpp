// PEP 691 documents, written as text: an index of a million files is rendered in one go, and a JSON tree
// would cost more than everything else.
#include "indexer/pages/simple_json.hpp"

#include <algorithm>
#include <string_view>

#include "indexer/tree/paths.hpp"
#include "lib/base/clock.hpp"
#include "lib/simple/project_file.hpp"

namespace wheelyard::indexer {

namespace {

constexpr std::string_view meta = R"({"meta":{"api-version":"1.4"})";
// PEP 700 (1.1) requires the size of each file, which an upstream may not give.
constexpr std::string_view meta_without_sizes = R"({"meta":{"api-version":"1.0"})";

using simple::append_json_text;

void append_member(std::string& json, std::string_view name, std::string_view text) {
    json.append(",\"").append(name).append("\":");
    append_json_text(json, text);
}

// The members of a file that are meaningful for a version's variants (PEP 825).
void append_variants_object(std::string& json, const catalog::VariantsFile& file) {
    json += R"({"filename":)";
    append_json_text(json, file.filename);
    json += R"(,"url":")";
    append_variants_link(json, file);
    json.append(R"(","hashes":{"sha256":")").append(file.sha256).append("\"}");
    json.append(R"(,"size":)").append(std::to_string(file.size_bytes));
    json += R"(,"upload-time":")";
    base::append_rfc3339(json, file.upload_time);
    json += R"("},)";
}

// PEP 792: `reason` is optional.
void append_status(std::string& json, const ProjectView& view) {
    json += R"(,"project-status":{"status":)";
    append_json_text(json, catalog::project_status_text(view.status));
    if (!view.status_reason.empty()) append_member(json, "reason", view.status_reason);
    json += '}';
}

template <typename Items, typename Append>
void append_list(std::string& json, std::string_view name, const Items& items, Append append) {
    json.append(",\"").append(name).append("\":[");
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) json += ',';
        append(items[i]);
    }
    json += ']';
}

}  // namespace

// Each ends in a comma, so that rows can be put between others.
void append_json_row(std::string& rows, const catalog::FileRow& row, const ProjectView& view) {
    rows += R"({"filename":)";
    append_json_text(rows, row.filename);
    rows += R"(,"url":")";
    append_file_link(rows, row);
    rows += '"';
    simple::append_json_members(rows, row);
    if (has_attestations_url(view, row))
        append_member(rows, "provenance", attestations_url(view.root_url, row));
    rows += "},";
}

void append_project_json(std::string& json, const ProjectView& view, const JsonRows& rows) {
    json += rows.has_sizes ? meta : meta_without_sizes;
    append_member(json, "name", view.project);
    append_status(json, view);
    append_list(json, "versions", rows.versions,
                [&](const auto version) { append_json_text(json, version); });
    json += R"(,"files":[)";
    json += rows.text;
    for (const auto& file : view.variants)  // their wheels are in the list, before them
        append_variants_object(json, file);
    if (json.back() == ',') json.pop_back();
    json += "]}\n";
}

std::string render_project_json(const ProjectView& view) {
    std::string text;
    for (const auto& row : view.files)
        append_json_row(text, row, view);
    const bool has_sizes = std::all_of(view.files.begin(), view.files.end(),
                                       [](const catalog::FileRow& row) { return row.size_bytes > 0; });
    std::string json;
    append_project_json(json, view, {text, versions_of(view), has_sizes});
    return json;
}

std::string render_root_json(const std::vector<std::string>& projects) {
    std::string json(meta);
    append_list(json, "projects", projects, [&](const auto& project) {
        json += R"({"name":)";
        append_json_text(json, project);
        json += '}';
    });
    json += "}\n";
    return json;
}

}  // namespace wheelyard::indexer
