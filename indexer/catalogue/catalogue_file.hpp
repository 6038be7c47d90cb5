// Keeps an index's catalogue (docs/reference/catalogue.md) up to date: a run rewrites what changed since the
// base into the delta, and the base itself only when the delta has grown, so that its cost follows what
// changed.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/catalogue.hpp"

namespace wheelyard::indexer {

// One project's lines, wheels alone, newest version first. A project without wheels is one of 0.
[[nodiscard]] simple::CatalogueProject catalogue_project(const ProjectView& view);

struct CatalogueUpdate {
    std::string index;
    catalog::Serial serial = 0;  // what the catalogue shows afterwards
    base::UnixMicros time = 0;
    std::vector<simple::CatalogueProject> changed;
    bool is_anew = false;  // whatever is there: all projects
};
// Where one index's catalogue lies, and where it is written before it takes its name there: the publisher
// removes what it finds half written beside its pages.
struct CataloguePlace {
    std::filesystem::path folder;  // the index's simple/
    std::filesystem::path aside;   // on the same file system
};
// `all_projects` is asked where there is no base that can be read. `meanwhile` is called between the projects
// of those that are.
[[nodiscard]] base::Status update_catalogue(
    Disk& disk, const CataloguePlace& place, CatalogueUpdate update,
    const std::function<base::Result<std::vector<simple::CatalogueProject>>()>& all_projects,
    const Meanwhile& meanwhile);

// What a publish run has read of the catalog (PublishManner::on_view): if nothing was committed since its
// serial, the catalogues take it out of here and do not read it once more.
struct ReadProjects {
    catalog::Serial serial = 0;
    std::map<ProjectName, simple::CatalogueProject> projects = {};
};

// Every index of a published tree: what the log says since the catalogues were written, or all of it (of
// those that have none, and of all with `is_anew`). "lock.held": somebody else is at it.
[[nodiscard]] base::Status update_catalogues(Disk& disk, const catalog::Catalog& catalog,
                                             const std::filesystem::path& tree, const base::Clock& clock,
                                             bool is_anew = false, ReadProjects* read = nullptr);
// The same, after whoever is at it (max_lock_polls).
[[nodiscard]] base::Status update_catalogues_in_turn(const catalog::Catalog& catalog,
                                                     const std::filesystem::path& tree, base::Clock& clock,
                                                     bool is_anew = false, ReadProjects* read = nullptr);

}  // namespace wheelyard::indexer
