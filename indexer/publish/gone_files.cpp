// Finds files that a project's page may have listed and no longer does; they are removed from the tree after
// the page. Reads only the catalog, never the tree, so that a run after a kill finds the same files.
#include "indexer/publish/touched.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace wheelyard::indexer {

namespace {

base::Status add_files_of(const catalog::Catalog& catalog, const std::vector<std::string>& indexes,
                          const std::string& project, std::set<TreeFile>& files) {
    for (const auto& index : indexes) {
        WHEELYARD_ASSIGN(const auto rows, catalog.files(index, project));
        for (const auto& row : rows)
            files.insert({row.sha256, row.filename});
    }
    return {};
}

// Says whether this run's events may be the first of the project in its source, so that another index
// supplied it before.
bool is_first_of_source(const Touched& touched, const CatalogView& found) {
    const auto is_touched = [&](const catalog::FileRow& row) { return touched.has(row.filename); };
    return std::all_of(found.view.files.begin(), found.view.files.end(), is_touched) &&
           std::all_of(found.hidden.begin(), found.hidden.end(), is_touched);
}

}  // namespace

base::Result<std::set<TreeFile>> gone_from_project(const catalog::Catalog& catalog,
                                                   const catalog::Inheritance& inheritance,
                                                   const ProjectName& name, const Touched& touched,
                                                   const CatalogView& found,
                                                   const std::vector<std::string>& indexes) {
    std::set<TreeFile> gone = touched.deleted;
    for (const auto& row : found.hidden)
        gone.insert({row.sha256, row.filename});
    if (touched.is_moved) {
        std::vector<std::string> others;  // `found` has the source's
        std::copy_if(indexes.begin(), indexes.end(), std::back_inserter(others),
                     [&](const std::string& index) { return index != found.source; });
        WHEELYARD_TRY(add_files_of(catalog, others, name.project, gone));
    } else if (found.is_whole() && inheritance.inherits(name.index) && is_first_of_source(touched, found)) {
        WHEELYARD_TRY(add_files_of(catalog, inheritance.order(name.index), name.project, gone));
    }
    if (gone.empty()) return gone;
    for (const auto& row : found.view.files)
        gone.erase({row.sha256, row.filename});
    return gone;
}

base::Result<std::set<TreeFile>> gone_with_project(const catalog::Catalog& catalog,
                                                   const std::string& project, const Touched& touched,
                                                   const std::vector<std::string>& indexes) {
    std::set<TreeFile> gone = touched.deleted;
    WHEELYARD_TRY(add_files_of(catalog, indexes, project, gone));
    return gone;
}

}  // namespace wheelyard::indexer
