// What a project's pages show: its files in the order in which every page lists them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct ProjectView {
    std::string project;  // normalised
    std::vector<catalog::FileRow> files;
    catalog::ProjectStatus status = catalog::ProjectStatus::active;
    std::string status_reason = {};
};

// Whether a page may offer the file: neither it nor its project is quarantined (PEP 792).
[[nodiscard]] bool is_offered(const catalog::FileRow& row, catalog::ProjectStatus status);

// Sorts by version (PEP 440 order, oldest first), then by file name. A version that is none comes first.
[[nodiscard]] ProjectView make_project_view(std::string project, std::vector<catalog::FileRow> files);

// What the catalog says of a project now: its page in `index`, and the files that no page may offer. Rows
// that are inherited have `index` as theirs: each index has its files in its own folders.
struct CatalogView {
    std::string source;  // the index that supplies the files
    ProjectView view;
    std::vector<catalog::FileRow> hidden;
};
// In place of what `found` had, whose texts keep their room. False: `index` shows no such project, and
// `found` is of no use.
[[nodiscard]] base::Result<bool> read_project(const catalog::Catalog& catalog,
                                              const catalog::Inheritance& inheritance,
                                              const std::string& index, const std::string& project,
                                              CatalogView& found);
// nullopt: `index` shows no such project.
[[nodiscard]] base::Result<std::optional<CatalogView>> read_project(const catalog::Catalog& catalog,
                                                                    const catalog::Inheritance& inheritance,
                                                                    const std::string& index,
                                                                    const std::string& project);

// The versions of the files, each once, in the view's order (PEP 700 `versions`): parts of the view.
[[nodiscard]] std::vector<std::string_view> versions_of(const ProjectView& view);
std::vector<std::string_view> versions_of(ProjectView&& view) = delete;

}  // namespace wheelyard::indexer
