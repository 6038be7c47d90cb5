// The order of files: versions are parsed once each, not once a comparison.
#include "indexer/project_view.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "lib/wheel/version.hpp"

namespace wheelyard::indexer {

ProjectView make_project_view(std::string project, std::vector<catalog::FileRow> files) {
    struct Entry {
        std::optional<wheel::Version> version;
        catalog::FileRow row;
    };
    std::vector<Entry> entries;
    entries.reserve(files.size());
    for (auto& row : files) {
        auto version = wheel::Version::parse(row.version);
        entries.push_back({version ? std::optional(std::move(*version)) : std::nullopt, std::move(row)});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        if (a.version.has_value() != b.version.has_value()) return !a.version.has_value();
        if (a.version) {
            const auto order = *a.version <=> *b.version;
            if (order != 0) return order < 0;
        }
        if (a.row.version != b.row.version)
            return a.row.version < b.row.version;  // "1.0" and "1.0.0" stay together
        return a.row.filename < b.row.filename;
    });

    ProjectView view{.project = std::move(project), .files = {}};
    view.files.reserve(entries.size());
    for (auto& entry : entries)
        view.files.push_back(std::move(entry.row));
    return view;
}

bool is_offered(const catalog::FileRow& row, catalog::ProjectStatus status) {
    return row.state == catalog::FileState::active && status != catalog::ProjectStatus::quarantined;
}

base::Result<std::optional<CatalogView>> read_project(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance,
                                                      const std::string& index, const std::string& project) {
    std::string source = index;
    if (inheritance.inherits(index)) {
        WHEELYARD_ASSIGN(const auto found, catalog.source_of(inheritance, index, project));
        if (!found) return std::nullopt;
        source = *found;
    }
    WHEELYARD_ASSIGN(const auto project_row, catalog.project(source, project));
    if (!project_row) return std::nullopt;
    WHEELYARD_ASSIGN(auto rows, catalog.files(source, project));
    CatalogView found{.source = std::move(source), .view = {}, .hidden = {}};
    std::vector<catalog::FileRow> offered;
    for (auto& row : rows) {
        row.index = index;
        (is_offered(row, project_row->status) ? offered : found.hidden).push_back(std::move(row));
    }
    found.view = make_project_view(project, std::move(offered));
    found.view.status = project_row->status;
    found.view.status_reason = project_row->status_reason;
    return found;
}

std::vector<std::string> versions_of(const ProjectView& view) {
    std::vector<std::string> versions;
    for (const auto& row : view.files) {
        if (versions.empty() || versions.back() != row.version) versions.push_back(row.version);
    }
    return versions;
}

}  // namespace wheelyard::indexer
