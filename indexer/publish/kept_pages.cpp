#include "indexer/publish/kept_pages.hpp"

#include <algorithm>
#include <utility>

#include "lib/store/catalog/version_variants.hpp"

namespace wheelyard::indexer {

base::Status KeptPages::follow(const catalog::Catalog& catalog, const catalog::Inheritance& inheritance,
                               catalog::Serial until, const std::string& root_url) {
    if (root_url != std::exchange(root_url_, root_url)) projects_.clear();
    if (std::exchange(is_in_run_, true)) projects_.clear();  // the run before did not end
    if (!projects_.empty()) {
        WHEELYARD_ASSIGN(const catalog::HistoryOf history, catalog.compare_history(followed_));
        const catalog::Serial events = until - followed_.serial;
        if (history != catalog::HistoryOf::same || events < 0 || events > max_followed_events)
            projects_.clear();
    }
    if (!projects_.empty()) {
        WHEELYARD_ASSIGN(const TouchedByLog touched,
                         read_touched(catalog, inheritance, followed_.serial, until));
        if (!touched.changed_indexes.empty()) projects_.clear();
        for (const auto& [name, what] : touched.projects) {
            const auto kept = projects_.find(name);
            if (kept == projects_.end()) continue;
            Project& project = kept->second;
            project.changed.insert(what.filenames.begin(), what.filenames.end());
            const bool is_of_files = !what.filenames.contains("") && what.from == std::set{project.source};
            if (!is_of_files || project.changed.size() > max_changed_files) projects_.erase(kept);
        }
    }
    WHEELYARD_ASSIGN(followed_, catalog.event_at(until));
    return {};
}

base::Status KeptPages::read(const catalog::Catalog& catalog, const TouchedProjects::value_type& touched,
                             CatalogView& found) {
    const auto& [name, what] = touched;
    const auto kept = projects_.find(name);
    found.kept = nullptr;
    if (kept == projects_.end()) return {};
    Project& project = kept->second;
    // After a run that failed, these may be more than those that changed since: the run places them all.
    project.changed.insert(what.filenames.begin(), what.filenames.end());
    const bool is_of_variants =
        std::any_of(project.changed.begin(), project.changed.end(), catalog::is_variant_wheel);
    if (what.is_every_file || what.is_moved || what.from != std::set{project.source} ||
        project.changed.contains("") || project.changed.size() > max_changed_files || is_of_variants) {
        projects_.erase(kept);
        return {};
    }
    found = {.source = project.source, .view = project.head, .hidden = {}, .kept = &project.rows};
    for (const std::string& filename : project.changed) {
        WHEELYARD_ASSIGN(auto row, catalog.file(project.source, filename));
        if (!row) continue;
        row->index = name.index;
        catalog::keep_offered_metadata(*row);
        (is_offered(*row, project.head.status) ? found.view.files : found.hidden).push_back(*std::move(row));
    }
    for (const std::string& filename : project.changed)
        project.rows.remove(filename);
    return {};
}

void KeptPages::note_written(const ProjectName& name, const CatalogView& found, ProjectRows& rows) {
    if (found.is_whole() && (rows.size() < min_files_ || !found.view.variants.empty())) return forget(name);
    Project& project = projects_[name];
    if (found.is_whole()) {
        project.source = found.source;
        project.head = {.project = found.view.project,
                        .files = {},
                        .status = found.view.status,
                        .status_reason = found.view.status_reason,
                        .root_url = root_url_};
        project.rows = std::move(rows);
    }
    project.changed.clear();
    project.last_use = ++uses_;
    make_room();
}

void KeptPages::make_room() {
    std::size_t bytes = 0;
    for (const auto& [name, project] : projects_)
        bytes += project.rows.memory_bytes();
    while (bytes > limit_bytes_) {
        const auto oldest = std::min_element(
            projects_.begin(), projects_.end(),
            [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
        bytes -= oldest->second.rows.memory_bytes();
        projects_.erase(oldest);
    }
}

}  // namespace wheelyard::indexer
