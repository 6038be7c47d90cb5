// PEP 691 documents.
#include "indexer/simple_json.hpp"

#include <utility>

#include "indexer/paths.hpp"
#include "lib/base/clock.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

using io::Json;

namespace {

Json meta() {
    return Json::object({{"api-version", "1.4"}});
}

// PEP 792: a reason only where there is one.
Json project_status(const ProjectView& view) {
    Json status = Json::object({{"status", catalog::project_status_text(view.status)}});
    if (!view.status_reason.empty()) status.set("reason", view.status_reason);
    return status;
}

Json sha256_object(const std::string& sha256) {
    return Json::object({{"sha256", sha256}});
}

// PEP 592: a reason is a non-empty string, none is plain `true`.
Json yanked(const catalog::FileRow& row) {
    if (row.yanked && !row.yanked_reason.empty()) return row.yanked_reason;
    return row.yanked;
}

Json render_file(const catalog::FileRow& row) {
    Json file = Json::object({{"filename", row.filename},
                              {"url", file_link(row)},
                              {"hashes", sha256_object(row.sha256)},
                              {"size", row.size_bytes},
                              {"upload-time", base::render_rfc3339(row.upload_time)},
                              {"yanked", yanked(row)}});
    if (!row.requires_python.empty()) file.set("requires-python", row.requires_python);
    if (!row.metadata_sha256.empty()) file.set("core-metadata", sha256_object(row.metadata_sha256));
    return file;
}

}  // namespace

std::string render_project_json(const ProjectView& view) {
    Json files = Json::array();
    for (const auto& row : view.files)
        files.push(render_file(row));
    return Json::object({{"meta", meta()},
                         {"name", view.project},
                         {"project-status", project_status(view)},
                         {"versions", Json::array_of(versions_of(view))},
                         {"files", std::move(files)}})
               .render() +
           "\n";
}

std::string render_root_json(const std::vector<std::string>& projects) {
    Json names = Json::array();
    for (const auto& project : projects)
        names.push(Json::object({{"name", project}}));
    return Json::object({{"meta", meta()}, {"projects", std::move(names)}}).render() + "\n";
}

}  // namespace wheelyard::indexer
