// PEP 691 documents, written as text: an index of a million files is rendered in one go, and a JSON tree
// would cost more than everything else.
#include "indexer/pages/simple_json.hpp"

#include <algorithm>
#include <string_view>

#include "indexer/tree/paths.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

namespace {

constexpr std::string_view meta = R"({"meta":{"api-version":"1.4"})";
// PEP 700 (1.1) requires the size of each file, which an upstream may not give.
constexpr std::string_view meta_without_sizes = R"({"meta":{"api-version":"1.0"})";

// Nearly every text is plain; io::Json escapes the rest.
constexpr base::ByteSet plain(' ', '~', "\"\\");

bool is_plain_json(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return plain.has(c); });
}

void append_text(std::string& json, std::string_view text) {
    if (is_plain_json(text))
        json.append(1, '"').append(text).append(1, '"');
    else
        json += io::Json(text).render();
}

void append_member(std::string& json, std::string_view name, std::string_view text) {
    json.append(",\"").append(name).append("\":");
    append_text(json, text);
}

void append_sha256(std::string& json, std::string_view name, std::string_view sha256) {
    json.append(",\"").append(name).append(R"(":{"sha256":")").append(sha256).append("\"}");
}

// PEP 592: a non-empty reason as a string, otherwise `true`.
void append_yanked(std::string& json, const catalog::FileRow& row) {
    if (row.yanked && !row.yanked_reason.empty())
        append_member(json, "yanked", row.yanked_reason);
    else
        json += row.yanked ? R"(,"yanked":true)" : R"(,"yanked":false)";
}

void append_file_object(std::string& json, const catalog::FileRow& row, const ProjectView& view) {
    json += R"({"filename":)";
    append_text(json, row.filename);
    json += R"(,"url":")";
    append_file_link(json, row);
    json += '"';
    append_sha256(json, "hashes", row.sha256);
    if (row.size_bytes > 0) json.append(R"(,"size":)").append(std::to_string(row.size_bytes));
    json += R"(,"upload-time":")";
    base::append_rfc3339(json, row.upload_time);
    json += '"';
    append_yanked(json, row);
    if (!row.requires_python.empty()) append_member(json, "requires-python", row.requires_python);
    if (!row.metadata_sha256.empty()) append_sha256(json, "core-metadata", row.metadata_sha256);
    if (!row.provenance_sha256.empty()) append_sha256(json, "_wheelyard_provenance", row.provenance_sha256);
    if (!row.attestations_sha256.empty())
        append_sha256(json, "_wheelyard_attestations", row.attestations_sha256);
    if (has_attestations_url(view, row))
        append_member(json, "provenance", attestations_url(view.root_url, row));
    json += '}';
}

// The members of a file that are meaningful for a version's variants (PEP 825).
void append_variants_object(std::string& json, const catalog::VariantsFile& file) {
    json += R"({"filename":)";
    append_text(json, file.filename);
    json += R"(,"url":")";
    append_variants_link(json, file);
    json += '"';
    append_sha256(json, "hashes", file.sha256);
    json.append(R"(,"size":)").append(std::to_string(file.size_bytes));
    json += R"(,"upload-time":")";
    base::append_rfc3339(json, file.upload_time);
    json += R"("})";
}

// PEP 792: `reason` is optional.
void append_status(std::string& json, const ProjectView& view) {
    json += R"(,"project-status":{"status":)";
    append_text(json, catalog::project_status_text(view.status));
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

void append_project_json(std::string& json, const ProjectView& view) {
    constexpr std::size_t typical_file_bytes = 600;
    json.reserve(json.size() + (view.files.size() + 1) * typical_file_bytes);
    const bool has_sizes = std::all_of(view.files.begin(), view.files.end(),
                                       [](const catalog::FileRow& row) { return row.size_bytes > 0; });
    json += has_sizes ? meta : meta_without_sizes;
    append_member(json, "name", view.project);
    append_status(json, view);
    append_list(json, "versions", versions_of(view), [&](const auto version) { append_text(json, version); });
    append_list(json, "files", view.files, [&](const auto& row) { append_file_object(json, row, view); });
    for (const auto& file : view.variants) {  // their wheels are in the list, before them
        json.back() = ',';
        append_variants_object(json, file);
        json += ']';
    }
    json += "}\n";
}

std::string render_project_json(const ProjectView& view) {
    std::string json;
    append_project_json(json, view);
    return json;
}

std::string render_root_json(const std::vector<std::string>& projects) {
    std::string json(meta);
    append_list(json, "projects", projects, [&](const auto& project) {
        json += R"({"name":)";
        append_text(json, project);
        json += '}';
    });
    json += "}\n";
    return json;
}

}  // namespace wheelyard::indexer
