// A project in the form of PyPI's JSON API (https://docs.pypi.org/api/json/), which bandersnatch and other
// programs read: /<index>/pypi/<project>/json and /<index>/pypi/<project>/<version>/json. Rendered from the
// project's page and the METADATA of one of its wheels. It has all members that PyPI's has: typed readers
// require them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::http {

struct PypiProject {
    std::string name;     // normalized
    std::string version;  // the one that `info` and `urls` describe
    // The place of a wheel of that version below the index: "files/ab/<sha256>/<filename>".
    std::string wheel;
    bool yanked = false;  // every file of that version is
    std::vector<std::pair<std::string, std::vector<io::Json>>>
        releases;  // the page's files by version, oldest first
};

// Says whether a page's entry of a file is yanked (PEP 592).
[[nodiscard]] bool is_yanked(const io::Json& file);

// `version` empty: the newest final version, otherwise the newest; equal versions are one ("1" and "1.0", PEP
// 440). Error "pypi.no_version": there is none, or not this one.
[[nodiscard]] base::Result<PypiProject> read_pypi_project(std::string_view page_json,
                                                          std::string_view version);

// The place below the index of a file of that version, "files/ab/<sha256>/<filename>"; empty: the version has
// no such file, or the file no attestations.
[[nodiscard]] std::string attested_place(const PypiProject& project, std::string_view filename);

// File URLs are `<base_url>/packages/<index>/…`: bandersnatch takes no path that begins otherwise.
struct PypiIndex {
    std::string base_url;
    std::string index;
    std::int64_t serial = 0;  // of the index's last event
    // Pages of projects for people, `<base_url>/<index>/project/`; empty: the index has none, so it is the
    // Simple page.
    std::string pages_url = {};
};
[[nodiscard]] std::string render_pypi_json(const PypiProject& project, std::string_view metadata,
                                           const PypiIndex& place);

}  // namespace wheelyard::http
