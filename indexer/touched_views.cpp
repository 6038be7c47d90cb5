#include "indexer/touched_views.hpp"

#include <utility>

namespace wheelyard::indexer {

base::Result<std::vector<ProjectRead>> read_touched_projects(const catalog::Catalog& catalog,
                                                             const catalog::Inheritance& inheritance,
                                                             TouchedProjects::const_iterator& next,
                                                             TouchedProjects::const_iterator end,
                                                             std::size_t most_rows) {
    std::vector<ProjectRead> read;
    const auto read_some = [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto read_at, catalog.last_serial());
        for (std::size_t rows = 0; next != end && rows < most_rows; ++next) {
            const ProjectName& name = next->first;
            WHEELYARD_ASSIGN(auto found, read_project(catalog, inheritance, name.index, name.project));
            rows += 1 + (found ? found->view.files.size() + found->hidden.size() : 0);
            read.push_back({&*next, std::move(found), read_at});
        }
        return {};
    };
    WHEELYARD_TRY(catalog.in_one_snapshot(read_some));
    return read;
}

}  // namespace wheelyard::indexer
