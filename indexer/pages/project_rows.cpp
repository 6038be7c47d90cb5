#include "indexer/pages/project_rows.hpp"

#include <algorithm>
#include <utility>

#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"

namespace wheelyard::indexer {

void ProjectRows::render(const ProjectView& view) {
    rows_.clear();
    html_.clear();
    json_.clear();
    rows_.reserve(view.files.size());
    for (const catalog::FileRow& file : view.files) {
        const Offsets begin{html_.size(), json_.size()};
        append_html_row(html_, file, view);
        append_json_row(json_, file, view);
        rows_.push_back({file.version, file.filename, html_.size() - begin.html, json_.size() - begin.json,
                         file.size_bytes > 0});
    }
}

ProjectRows::Offsets ProjectRows::offsets_of(Rows::const_iterator row) const {
    Offsets offsets;
    for (auto before = rows_.begin(); before != row; ++before) {
        offsets.html += before->html_bytes;
        offsets.json += before->json_bytes;
    }
    return offsets;
}

void ProjectRows::put(const catalog::FileRow& row, const ProjectView& view) {
    remove(row.filename);
    const ListedFile listed{row.version, row.filename};
    const auto at = std::lower_bound(
        rows_.begin(), rows_.end(), listed,
        [](const Row& before, const ListedFile& file) { return is_listed_before(before.listed(), file); });
    const Offsets offsets = offsets_of(at);
    std::string html;
    std::string json;
    append_html_row(html, row, view);
    append_json_row(json, row, view);
    rows_.insert(at, {row.version, row.filename, html.size(), json.size(), row.size_bytes > 0});
    html_.insert(offsets.html, html);
    json_.insert(offsets.json, json);
}

void ProjectRows::remove(std::string_view filename) {
    const auto row = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const Row& there) { return there.filename == filename; });
    if (row == rows_.end()) return;
    const Offsets offsets = offsets_of(row);
    html_.erase(offsets.html, row->html_bytes);
    json_.erase(offsets.json, row->json_bytes);
    rows_.erase(row);
}

void ProjectRows::append_html(std::string& html, const ProjectView& view) const {
    append_project_html(html, view, html_);
}

void ProjectRows::append_json(std::string& json, const ProjectView& view) const {
    JsonRows rows{.text = json_, .versions = {}};
    for (const Row& row : rows_) {
        if (rows.versions.empty() || rows.versions.back() != row.version)
            rows.versions.push_back(row.version);
        rows.has_sizes = rows.has_sizes && row.has_size;
    }
    append_project_json(json, view, rows);
}

std::size_t ProjectRows::memory_bytes() const {
    std::size_t bytes = html_.capacity() + json_.capacity() + rows_.capacity() * sizeof(Row);
    for (const Row& row : rows_)
        bytes += row.version.capacity() + row.filename.capacity();
    return bytes;
}

}  // namespace wheelyard::indexer
