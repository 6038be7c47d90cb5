// Renders the JSON document: lists stay lists, and unknown members are omitted.
#include "indexer/avail_wheels/table/table.hpp"

#include <utility>

#include "indexer/avail_wheels/query/needs.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

using io::Json;

namespace {

Json render_wheel(const Candidate& candidate) {
    const auto& release = *candidate.release;
    const auto& tags = *candidate.tags;
    const auto& link = candidate.link;
    Json json = Json::object({{"filename", link.filename},
                              {"name", release.name},
                              {"project", release.project},
                              {"version", release.public_version},
                              {"localversion", release.version.local_text()},
                              {"build", release.build},
                              {"python", Json::array_of(tags.pythons)},
                              {"abi", Json::array_of(tags.abis)},
                              {"platform", Json::array_of(tags.platforms)},
                              {"arch", candidate.arch},
                              {"url", link.url}});
    if (!link.sha256.empty()) json.set("sha256", link.sha256);
    if (link.size_bytes > 0) json.set("size", link.size_bytes);
    if (!link.requires_python.empty()) json.set("requires_python", link.requires_python);
    if (link.upload_time != 0) json.set("upload_time", base::render_rfc3339(link.upload_time));
    if (link.yanked) json.set("yanked", link.yanked_reason.empty() ? Json(true) : Json(link.yanked_reason));
    if (const auto modules = modules_of(candidate); !modules.empty())
        json.set("modules", Json::array_of(modules));
    if (!candidate.runs.empty()) {
        Json here = Json::object({{"runs", candidate.runs}});
        if (!candidate.why.empty()) {
            here.set("code", candidate.why_code);
            here.set("why", candidate.why);
        }
        if (!candidate.advice.empty()) here.set("advice", candidate.advice);
        json.set("here", std::move(here));
    }
    return json;
}

}  // namespace

std::string render_document(const Answer& answer, Json lock) {
    Json wheels = Json::array();
    for (const auto& candidate : answer.wheels)
        wheels.push(render_wheel(candidate));
    Json document = Json::object({{"format", "wheelyard.avail_wheels/1"},
                                  {"wheels", std::move(wheels)},
                                  {"not_available", Json::array_of(answer.not_available)}});
    if (!lock.is_null()) document.set("lock", std::move(lock));
    return document.render_pretty();
}

Json render_lock(const std::string& file, const std::vector<LockedHere>& packages, std::size_t left_out,
                 const std::vector<std::string>& refusals) {
    Json rows = Json::array();
    for (const auto& [package, state, wheel, why, may_be_built] : packages) {
        Json row = Json::object({{"name", package->name}, {"state", std::string(lock_state_code(state))}});
        if (package->version) row.set("version", package->version->text());
        if (wheel != nullptr) row.set("filename", wheel->link.filename);
        if (!why.empty()) row.set("why", why);
        row.set("may_be_built", may_be_built);
        rows.push(std::move(row));
    }
    return Json::object({{"file", file},
                         {"packages", std::move(rows)},
                         {"left_out", left_out},
                         {"refused", Json::array_of(refusals)}});
}

}  // namespace wheelyard::avail_wheels
