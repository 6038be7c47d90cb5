// Simple pages as HTML (PEP 503, 592, 629, 658, 714, 740, 792). The format is frozen (PEP 833); newer members
// are only in the JSON, but for the time of upload: without it uv takes no file where `exclude-newer` is set,
// and from a folder or a plain web server it reads HTML.
//
//     <a href="../../files/ab/…/six-1.16.0-py2.py3-none-any.whl#sha256=…" data-upload-time="2026-11-20T07:47:35.000000Z"
//        data-requires-python="&gt;=2.7" data-yanked="broken on ppc64le" data-core-metadata="sha256=…">six-1.16.0-….whl</a>
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/pages/project_view.hpp"

namespace wheelyard::indexer {

// Appends, so that a caller can reuse one buffer for many pages. `rows`: of all files in the view's order, by
// append_html_row(); the view's own files are not read.
void append_project_html(std::string& html, const ProjectView& view, std::string_view rows);
void append_html_row(std::string& rows, const catalog::FileRow& row, const ProjectView& view);
[[nodiscard]] std::string render_project_html(const ProjectView& view);
// `projects`: normalised names, sorted.
[[nodiscard]] std::string render_root_html(const std::vector<std::string>& projects);

// The page of --find-links: the links of every project of an index, each project below its name.
using FlatLinks = std::map<std::string, std::string, std::less<>>;  // by project
// Empty: the project offers no file.
[[nodiscard]] std::string render_flat_links(const ProjectView& view);
[[nodiscard]] std::string render_flat_html(const FlatLinks& links);
// What an index with too many files has instead.
[[nodiscard]] std::string render_flat_html_without_links();
// nullopt: render_flat_html() did not write it.
[[nodiscard]] std::optional<FlatLinks> parse_flat_html(std::string_view html);

}  // namespace wheelyard::indexer
