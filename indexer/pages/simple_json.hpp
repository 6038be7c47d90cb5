// Simple pages as JSON (PEP 691), api-version 1.4: sizes, versions and upload times (PEP 700), yanks (PEP
// 592), core metadata (PEP 714; never under its old name, which crashes old pips) and the project's status
// (PEP 792). URLs are relative to the page, as in HTML, except that of `provenance` (PEP 740), which is
// absent where the tree's own URL is unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/pages/project_view.hpp"

namespace wheelyard::indexer {

// What a page has of its files.
struct JsonRows {
    std::string_view text;                   // of all files in the view's order, by append_json_row()
    std::vector<std::string_view> versions;  // as versions_of()
    bool has_sizes = true;                   // of every file
};
// Appends, so that a caller can reuse one buffer for many pages. The view's own files are not read.
void append_project_json(std::string& json, const ProjectView& view, const JsonRows& rows);
void append_json_row(std::string& rows, const catalog::FileRow& row, const ProjectView& view);
[[nodiscard]] std::string render_project_json(const ProjectView& view);
// `projects`: normalised names, sorted.
[[nodiscard]] std::string render_root_json(const std::vector<std::string>& projects);

}  // namespace wheelyard::indexer
