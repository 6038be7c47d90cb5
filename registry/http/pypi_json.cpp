#include "registry/http/pypi_json.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::http {

namespace {

using io::Json;

constexpr std::string_view files_folder = "files/";

// "files/ab/<sha256>/<filename>" of a page's link, relative or from the root.
std::string place_of(const Json& file) {
    const std::string url = file.string_or("url", {});
    const auto at = url.rfind("/files/");
    return at == std::string::npos ? std::string() : url.substr(at + 1);
}

std::optional<wheel::Version> version_of(const std::string& filename) {
    if (auto name = wheel::parse_wheel_filename(filename)) return std::move(name->version);
    if (auto name = wheel::parse_sdist_filename(filename)) return std::move(name->version);
    return std::nullopt;
}

Json render_file(const Json& file, const PypiIndex& place) {
    const std::string time = file.string_or("upload-time", {});
    const std::string filename = file.string_or("filename", {});
    const auto name = wheel::parse_wheel_filename(filename);
    const bool is_sdist = wheel::is_sdist_filename(filename);
    const std::string reason = file.string_or("yanked", {});
    const std::string requires_python = file.string_or("requires-python", {});
    const Json* hashes = file.find("hashes");
    return Json::object({{"filename", filename},
                         {"url", place.base_url + "/packages/" + place.index + "/" +
                                     place_of(file).substr(files_folder.size())},
                         {"digests", hashes == nullptr ? Json::object() : *hashes},
                         {"size", file.int_or("size", 0)},
                         {"packagetype", is_sdist ? "sdist" : "bdist_wheel"},
                         {"python_version", is_sdist ? "source"
                                            : name   ? base::join(name->pythons, ".")
                                                     : std::string()},
                         {"requires_python", requires_python.empty() ? Json() : Json(requires_python)},
                         {"upload_time", time.substr(0, time.find_first_of(".Z"))},
                         {"upload_time_iso_8601", time},
                         {"yanked", is_yanked(file)},
                         {"yanked_reason", reason.empty() ? Json() : Json(reason)},
                         {"comment_text", ""},
                         {"downloads", -1},
                         {"md5_digest", hashes == nullptr ? "" : hashes->string_or("md5", "")},
                         {"has_sig", false}});
}

Json render_files(const std::vector<Json>& files, const PypiIndex& place) {
    Json rendered = Json::array();
    for (const auto& file : files)
        rendered.push(render_file(file, place));
    return rendered;
}

struct InfoRow {
    const char* member;
    const char* field;  // of METADATA
};
constexpr std::array info_texts{InfoRow{"author", "Author"},
                                InfoRow{"author_email", "Author-email"},
                                InfoRow{"maintainer", "Maintainer"},
                                InfoRow{"maintainer_email", "Maintainer-email"},
                                InfoRow{"summary", "Summary"},
                                InfoRow{"home_page", "Home-page"},
                                InfoRow{"download_url", "Download-URL"},
                                InfoRow{"license", "License"},
                                InfoRow{"license_expression", "License-Expression"},
                                InfoRow{"keywords", "Keywords"},
                                InfoRow{"description_content_type", "Description-Content-Type"},
                                InfoRow{"requires_python", "Requires-Python"}};
constexpr std::array info_lists{InfoRow{"requires_dist", "Requires-Dist"},
                                InfoRow{"provides_extra", "Provides-Extra"},
                                InfoRow{"license_files", "License-File"}, InfoRow{"dynamic", "Dynamic"}};

// What the files of the version say of yanks.
void set_yanked(Json& info, const PypiProject& project) {
    std::string reason;
    for (const auto& [version, files] : project.releases) {
        if (version == project.version && project.yanked) reason = files.front().string_or("yanked", {});
    }
    info.set("yanked", project.yanked);
    info.set("yanked_reason", reason.empty() ? Json() : Json(reason));
}

void set_urls(Json& info, const PypiProject& project, const PypiIndex& place) {
    const std::string page =
        (place.pages_url.empty() ? place.base_url + "/" + place.index + "/simple/" : place.pages_url) +
        project.name + "/";
    for (const char* member : {"package_url", "project_url", "release_url"})
        info.set(member, page);  // a version has no page of its own
    for (const char* member : {"docs_url", "bugtrack_url"})
        info.set(member, Json());
}

Json render_info(const PypiProject& project, std::string_view metadata, const PypiIndex& place) {
    const auto headers = wheel::parse_headers(metadata).value_or(wheel::HeaderFile());
    const auto* name = headers.first("Name");
    Json info =
        Json::object({{"name", name == nullptr ? project.name : *name}, {"version", project.version}});
    for (const auto& row : info_texts) {
        const auto* value = headers.first(row.field);
        info.set(row.member, value == nullptr ? Json() : Json(*value));
    }
    for (const auto& row : info_lists) {
        const auto values = headers.all(row.field);
        info.set(row.member, values.empty() ? Json() : Json::array_of(values));
    }
    info.set("classifiers", Json::array_of(headers.all("Classifier")));
    const auto platforms = headers.all("Platform");
    info.set("platform", platforms.empty() ? Json() : Json(base::join(platforms, ",")));
    info.set("downloads", Json::object({{"last_day", -1}, {"last_week", -1}, {"last_month", -1}}));
    const auto* description = headers.first("Description");
    info.set("description", description == nullptr ? headers.body : *description);
    Json urls = Json::object();
    for (const auto& url : headers.all("Project-URL")) {
        const auto comma = url.find(',');
        if (comma != std::string::npos)
            urls.set(std::string(base::trim(std::string_view(url).substr(0, comma))),
                     base::trim(std::string_view(url).substr(comma + 1)));
    }
    info.set("project_urls", urls.as_object()->empty() ? Json() : std::move(urls));
    set_yanked(info, project);
    set_urls(info, project, place);
    return info;
}

}  // namespace

bool is_yanked(const Json& file) {
    const Json* yanked = file.find("yanked");
    if (yanked == nullptr) return false;
    const std::string* reason = yanked->as_string();
    return reason != nullptr ? !reason->empty() : file.bool_or("yanked", false);
}

base::Result<PypiProject> read_pypi_project(std::string_view page_json, std::string_view version) {
    WHEELYARD_ASSIGN(const Json page, io::parse_json(page_json));
    PypiProject project;
    project.name = page.string_or("name", {});
    std::string newest;
    std::string newest_final;
    for (const Json& file : page.items("files")) {
        const auto parsed = version_of(file.string_or("filename", {}));
        if (!parsed || place_of(file).empty()) continue;
        const std::string text = parsed->text();
        if (project.releases.empty() || project.releases.back().first != text)
            project.releases.emplace_back(text, std::vector<Json>());
        project.releases.back().second.push_back(file);
        newest = text;
        if (!parsed->is_prerelease() && !is_yanked(file)) newest_final = text;
    }
    project.version = !version.empty() ? std::string(version) : newest_final.empty() ? newest : newest_final;
    auto chosen = std::find_if(project.releases.begin(), project.releases.end(),
                               [&](const auto& release) { return release.first == project.version; });
    if (chosen == project.releases.end() && !version.empty()) {
        const auto wanted = wheel::Version::parse(version);
        chosen = std::find_if(project.releases.begin(), project.releases.end(), [&](const auto& release) {
            const auto listed = wheel::Version::parse(release.first);
            return wanted && listed && *wanted == *listed;
        });
        if (chosen != project.releases.end()) project.version = chosen->first;
    }
    if (chosen == project.releases.end())
        return base::fail("pypi.no_version", "The index has no such version of this project",
                          project.version);
    project.wheel = place_of(chosen->second.front());
    project.yanked = std::all_of(chosen->second.begin(), chosen->second.end(), is_yanked);
    return project;
}

std::string attested_place(const PypiProject& project, std::string_view filename) {
    for (const auto& [version, files] : project.releases) {
        if (version != project.version) continue;
        for (const Json& file : files) {
            if (file.string_or("filename", {}) == filename && file.find("_wheelyard_attestations") != nullptr)
                return std::string(place_of(file));
        }
    }
    return {};
}

std::string render_pypi_json(const PypiProject& project, std::string_view metadata, const PypiIndex& place) {
    Json releases = Json::object();
    Json urls = Json::array();
    for (const auto& [version, files] : project.releases) {
        releases.set(version, render_files(files, place));
        if (version == project.version) urls = render_files(files, place);
    }
    return Json::object({{"info", render_info(project, metadata, place)},
                         {"last_serial", place.serial},
                         {"releases", std::move(releases)},
                         {"urls", std::move(urls)},
                         {"vulnerabilities", Json::array()}})
               .render() +
           "\n";
}

}  // namespace wheelyard::http
