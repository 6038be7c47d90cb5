// The names of a root page.
#include "indexer/publish/publish_run.hpp"

#include "indexer/publish/touched.hpp"
#include "indexer/tree/paths.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

base::Result<bool> is_out(Disk& disk, const fs::path& tree, const std::string& index,
                          const std::string& project) {
    WHEELYARD_ASSIGN(const auto size, disk.size_of(project_folder(tree, index, project) / html_page));
    return size.has_value();
}

}  // namespace

base::Result<RootNames> read_root_names(const catalog::Catalog& catalog,
                                        const catalog::Inheritance& inheritance, Disk& disk,
                                        const fs::path& tree, const std::string& index,
                                        const PublishReport& report) {
    RootNames names;
    WHEELYARD_ASSIGN(names.projects, catalog.shown_projects(inheritance, index));
    // Names committed during this run are left to the run that publishes their pages. The log is read after
    // the names, so it contains the event of each.
    WHEELYARD_ASSIGN(const auto now, catalog.last_serial());
    WHEELYARD_ASSIGN(const auto late, read_touched(catalog, inheritance, report.serial, now));
    for (const auto& [name, what] : late.projects) {
        if (name.index != index) continue;
        WHEELYARD_ASSIGN(const bool has_page, is_out(disk, tree, index, name.project));
        if (!has_page) std::erase(names.projects, name.project);
    }
    for (const auto& lagging : report.lagging) {
        if (lagging.index != index || !lagging.filename.empty()) continue;
        WHEELYARD_ASSIGN(const bool has_page, is_out(disk, tree, index, lagging.project));
        if (has_page) continue;
        std::erase(names.projects, lagging.project);
        names.is_whole = false;
    }
    return names;
}

}  // namespace wheelyard::indexer
