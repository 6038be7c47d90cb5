// The content of a project's pages: its files in the order in which every page lists them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/version_variants.hpp"

namespace wheelyard::indexer {

struct ProjectView {
    std::string project;  // normalised
    std::vector<catalog::FileRow> files;
    catalog::ProjectStatus status = catalog::ProjectStatus::active;
    std::string status_reason = {};
    std::size_t quarantined = 0;  // files that are not listed
    // The absolute URL of the folder of the indexes, which ends in "/": PEP 740's members need one. Empty:
    // unknown.
    std::string root_url = {};
    // Names of files whose attestations another server has, which `serve` then passes on: no row has their
    // hash.
    std::set<std::string, std::less<>> attested = {};
    std::vector<catalog::VariantsFile> variants = {};  // listed after the files (PEP 825)
};

// Says whether a page has the URL of the file's attestations (PEP 740).
[[nodiscard]] inline bool has_attestations_url(const ProjectView& view, const catalog::FileRow& row) {
    return !view.root_url.empty() &&
           (!row.attestations_sha256.empty() || view.attested.contains(row.filename));
}

// Says whether a page may list the file: neither it nor its project is quarantined (PEP 792).
[[nodiscard]] bool is_offered(const catalog::FileRow& row, catalog::ProjectStatus status);

// Sorts by version (PEP 440 order, oldest first), then by file name. Invalid versions come first.
[[nodiscard]] ProjectView make_project_view(std::string project, std::vector<catalog::FileRow> files);

// Says whether every page lists the first file before the second: the order of make_project_view().
struct ListedFile {
    std::string_view version;
    std::string_view filename;
};
[[nodiscard]] bool is_listed_before(const ListedFile& first, const ListedFile& second);

// A project as the catalog has it now: its page in `index`, and the files that no page may list. Inherited
// rows have `index` as their index, because each index has its own copy of the files.
class ProjectRows;
struct CatalogView {
    std::string source;  // the index that supplies the files
    ProjectView view;
    std::vector<catalog::FileRow> hidden;
    ProjectRows* kept = nullptr;  // of the files that it lacks, as they did not change; null: it is whole
    [[nodiscard]] bool is_whole() const { return kept == nullptr; }
};
struct ProjectToRead {
    std::string index;
    std::string project;
    CatalogView* found;     // overwritten, its memory is reused
    bool is_shown = false;  // by the index; otherwise `found` is unspecified
};
// Reads the first of the projects, which differ, with two queries for each index that is looked into: as many
// as have `max_rows` rows together (files and projects; the last one may exceed it), which it returns, and at
// least one. `up_to`: without the files of a project that came later, unless there are no others.
[[nodiscard]] base::Result<std::size_t> read_projects(const catalog::Catalog& catalog,
                                                      const catalog::Inheritance& inheritance,
                                                      std::span<ProjectToRead> wanted, std::size_t max_rows,
                                                      catalog::Serial up_to = catalog::newest_of_all);
// nullopt: `index` shows no such project.
[[nodiscard]] base::Result<std::optional<CatalogView>> read_project(const catalog::Catalog& catalog,
                                                                    const catalog::Inheritance& inheritance,
                                                                    const std::string& index,
                                                                    const std::string& project);

// The distinct versions in the view's order (PEP 700 `versions`). The result points into the view.
[[nodiscard]] std::vector<std::string_view> versions_of(const ProjectView& view);
std::vector<std::string_view> versions_of(ProjectView&& view) = delete;

}  // namespace wheelyard::indexer
