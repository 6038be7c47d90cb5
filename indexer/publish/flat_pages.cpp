#include "indexer/publish/flat_pages.hpp"

#include <utility>

#include "indexer/publish/touched_views.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/tree/tree_files.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

base::Result<std::optional<FlatLinks>> read_flat_page(Disk& disk, const fs::path& tree,
                                                      const std::string& index) {
    const fs::path file = flat_folder(tree, index) / html_page;
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file.native()));
    if (!size || *size > max_flat_page_bytes) return std::optional<FlatLinks>();
    return disk.read(file, max_flat_page_bytes).map([](const std::string& html) {
        return parse_flat_html(html);
    });
}

base::Status write_flat_page(Disk& disk, const fs::path& tree, const std::string& index,
                             const FlatLinks& links, std::size_t limit_bytes) {
    const fs::path folder = flat_folder(tree, index);
    const fs::path file = folder / html_page;
    std::string html = render_flat_html(links);
    if (html.size() > limit_bytes) html = render_flat_html_without_links();
    WHEELYARD_TRY(disk.make_directories(folder.native()));
    WHEELYARD_ASSIGN(const bool is_same, has_bytes(disk, file.native(), html));
    if (!is_same) WHEELYARD_TRY(disk.replace_via(draft_file(tree, index, flat_draft), file, html));
    // A killed run may have renamed these bytes without syncing them.
    return disk.sync_directory(folder.native());
}

base::Status FlatRun::run(catalog::Serial after, catalog::Serial until, const std::set<ProjectName>& again,
                          const std::vector<std::string>& indexes) {
    WHEELYARD_ASSIGN(TouchedByLog touched, read_touched(catalog_, inheritance_, after, until));
    for (const ProjectName& name : again)
        touched.projects.try_emplace(name);
    WHEELYARD_ASSIGN(const auto shown, catalog_.shown_indexes(inheritance_));
    std::set<std::string> names(shown.begin(), shown.end());
    names.insert(indexes.begin(), indexes.end());
    for (const std::string& index : names) {
        WHEELYARD_TRY(keep_alive_());
        WHEELYARD_TRY(open(index, after == 0 || touched.changed_indexes.contains(index), touched.projects));
    }
    WHEELYARD_TRY(replace_links(touched.projects, until));
    for (const auto& [index, links] : pages_) {
        WHEELYARD_TRY(keep_alive_());
        WHEELYARD_TRY(write_flat_page(disk_, tree_, index, links));
    }
    return {};
}

base::Status FlatRun::open(const std::string& index, bool anew, TouchedProjects& touched) {
    const fs::path file = flat_folder(tree_, index) / html_page;
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file.native()));
    const auto first = touched.lower_bound({index, {}});
    const bool is_touched = first != touched.end() && first->first.index == index;
    if (!anew && size) {
        if (!is_touched) return {};
        // It would hardly be shorter now.
        WHEELYARD_ASSIGN(const bool was_too_long,
                         has_bytes(disk_, file.native(), render_flat_html_without_links()));
        if (was_too_long) return {};
        WHEELYARD_ASSIGN(auto links, read_flat_page(disk_, tree_, index));
        if (links) {
            pages_[index] = *std::move(links);
            return {};
        }
    }
    pages_[index] = {};
    WHEELYARD_ASSIGN(const auto projects, catalog_.shown_projects(inheritance_, index));
    for (const std::string& project : projects)
        touched.try_emplace({index, project});
    return {};
}

base::Status FlatRun::replace_links(TouchedProjects& touched, catalog::Serial until) {
    std::erase_if(touched, [&](const auto& project) { return !pages_.contains(project.first.index); });
    TouchedViews views(catalog_, inheritance_, touched, until);
    while (true) {
        WHEELYARD_ASSIGN(const auto read, views.read_some(rows_per_read_));
        if (read.empty()) return {};
        for (auto& project : read) {
            WHEELYARD_TRY(keep_alive_());
            const auto& [index, name] = project.touched->first;
            pages_[index].erase(name);
            if (!project.is_shown) continue;
            ProjectView& view = project.found.view;
            WHEELYARD_TRY(keep_files_in_tree(disk_, tree_, view.files));
            view.root_url = root_url_;
            std::string links = render_flat_links(view);
            if (!links.empty()) pages_[index].emplace(name, std::move(links));
        }
    }
}

}  // namespace wheelyard::indexer
