// The publish run: read the log since the last time, then write what it touches, so that a reader may look at
// any moment and the machine may die at any moment.
//
// Every page is rendered from rows read *after* the last serial was read. Such rows may already hold a later
// commit; that is harmless, because a page is written only after every file of its own rows is in place, and
// the later event is simply processed again. One damaged project or file holds up nobody else: it is noted,
// reported and tried again by every run. The root is the one page that names other pages (root_names.hpp),
// and where it is large it may be left to a later run. An index that the tree does not have yet appears
// whole, with its root.
#include "indexer/publish/publish.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "indexer/pages/project_view.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/publish/gone_files.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/publish/root_names.hpp"
#include "indexer/publish/same_history.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/publish/touched_views.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/event_log.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/tree/published_record.hpp"
#include "indexer/tree/published_state.hpp"
#include "indexer/tree/tree_files.hpp"
#include "indexer/tree/tree_lock.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

// A blob is gone or damaged, and a person has to restore it: its file is left off its page.
bool is_of_a_file(const base::Error& error) {
    return error.recovery == base::Recovery::person;
}

// A full or read-only disk is no one project's: the whole run fails and keeps its place in the log.
bool is_of_the_machine(const base::Error& error) {
    if (error.os_error == 0) return !is_of_a_file(error);
    return error.os_error == ENOSPC || error.os_error == EDQUOT || error.os_error == EROFS;
}

struct Gone {
    ProjectName name;
    TreeFile file;
    bool keeps_name = false;  // of another file of the index
};

class PublishRun {
  public:
    PublishRun(const catalog::Catalog& catalog, const blobs::BlobStore& blobs, const fs::path& tree,
               Disk& disk, TreeLock& lock, const PublishManner& manner)
        : catalog_(catalog),
          tree_(tree),
          disk_(disk),
          lock_(lock),
          manner_(manner),
          record_(disk, tree),
          files_(disk, blobs, tree, [this] { return lock_.renew(); }) {}

    base::Result<PublishReport> run(const std::vector<std::string>& indexes, const TreeViews& views) {
        WHEELYARD_ASSIGN(state_, record_.read());
        WHEELYARD_ASSIGN(report_.serial, catalog_.last_serial());
        WHEELYARD_TRY(check_same_history(catalog_, state_, tree_));
        const bool anew = add_views(views);
        const bool is_all = state_.serial == 0;
        WHEELYARD_ASSIGN(inheritance_, catalog_.inheritance());
        WHEELYARD_ASSIGN(auto touched, read_touched(catalog_, inheritance_, state_.serial, report_.serial));
        report_.events = touched.events;
        for (const auto& stale : state_.lagging) {
            auto& project = touched.projects[{stale.index, stale.project}];
            project.deleted.insert(stale.deleted.begin(), stale.deleted.end());
            project.is_moved = true;  // maybe
        }
        WHEELYARD_TRY(touch_all_of_changed(touched));
        WHEELYARD_TRY(note_stale_roots(touched, indexes, anew));
        WHEELYARD_ASSIGN(PublishedState done, whole_state());
        WHEELYARD_ASSIGN(const auto new_roots, begin_new_roots());
        WHEELYARD_TRY(publish_projects(touched.projects, done));
        WHEELYARD_TRY(publish_roots(touched.changed_indexes, done));
        for (const auto& folder : new_roots)
            WHEELYARD_TRY(disk_.show_folder(folder));
        WHEELYARD_TRY(remove_left_projects());
        WHEELYARD_TRY(files_.sync_flat());
        for (const auto& [index, events] : touched.logs)
            WHEELYARD_TRY(append_events(disk_, tree_, index, events, is_all));
        // Not synced: what a power cut takes away of it is done once more by the next run.
        WHEELYARD_TRY(record_.write(done));
        report_.files_linked = files_.linked();
        report_.files_removed = files_.removed();
        return report_;
    }

  private:
    // The state after a run that leaves nothing behind.
    base::Result<PublishedState> whole_state() const {
        PublishedState done{.serial = report_.serial, .stale_roots = {}, .views = state_.views};
        WHEELYARD_ASSIGN(const auto event, event_at(catalog_, report_.serial));
        if (event) {
            done.time = event->time;
            done.kind = catalog::event_kind_text(event->kind);
        }
        return done;
    }

    // A view that is new to this tree is of every project, so the log is read from its begin; killed on the
    // way, the next run does the same.
    bool add_views(const TreeViews& views) {
        const std::size_t before = state_.views.size();
        if (!manner_.look_at_all &&
            (!views.find_links || state_.views.contains(std::string(view_find_links))))
            files_known_up_to_ = state_.serial;
        if (views.find_links) state_.views.emplace(view_find_links);
        if (views.precompressed) state_.views.emplace(view_precompressed);
        files_.show_flat(state_.views.contains(std::string(view_find_links)));
        const bool anew = state_.views.size() > before || manner_.look_at_all || manner_.pages_anew;
        if (anew) forget_serial(state_);
        return anew;
    }

    // Whether the tree has all files of a project by its own record, which was written after them: nothing
    // has touched the project since, nor until its rows were read.
    bool has_files_of(const ProjectRead& project) const {
        const Touched& touched = project.touched->second;
        return touched.newest <= files_known_up_to_ && !touched.is_moved && project.read_at == report_.serial;
    }

    // Of indexes whose root will be the first: publish_roots writes it, as it is stale and not there. Where a
    // root came otherwise after a run was killed that had begun one, it is stale, too.
    base::Result<std::vector<std::string>> begin_new_roots() {
        std::vector<std::string> folders;
        const Meanwhile renew = [this] { return lock_.renew(); };
        for (const auto& index : state_.stale_roots) {
            std::string folder = root_folder(tree_, index).native();
            WHEELYARD_ASSIGN(const bool is_there, exists(folder));
            if (is_there) {
                WHEELYARD_TRY(disk_.remove_begun(folder, renew));
                continue;
            }
            WHEELYARD_TRY(disk_.begin_folder(folder, renew));
            folders.push_back(std::move(folder));
        }
        return folders;
    }

    // Every project that one of these shows or has shown: what left has its folder until all of it is gone.
    base::Status touch_all_of_changed(TouchedByLog& touched) {
        for (const auto& index : touched.changed_indexes) {
            WHEELYARD_ASSIGN(auto names, catalog_.shown_projects(inheritance_, index));
            WHEELYARD_ASSIGN(const auto in_tree, names_with_folders(tree_, index));
            names.insert(names.end(), in_tree.begin(), in_tree.end());
            for (const auto& project : names) {
                Touched& what = touched.projects[{index, project}];
                what.is_moved = true;
                // Maybe while the index still inherited from where it was deleted.
                const auto deleted = touched.deleted.find(project);
                if (deleted != touched.deleted.end())
                    what.deleted.insert(deleted->second.begin(), deleted->second.end());
            }
        }
        return {};
    }

    base::Status note_stale_roots(const TouchedByLog& touched, const std::vector<std::string>& indexes,
                                  bool anew) {
        PublishedState noted = state_;
        noted.stale_roots.insert(touched.changed_indexes.begin(), touched.changed_indexes.end());
        for (const auto& index : indexes) {
            WHEELYARD_ASSIGN(const bool has_root, exists(root_folder(tree_, index) / html_page));
            if (!has_root || anew) noted.stale_roots.insert(index);
        }
        for (const auto& [name, what] : touched.projects) {
            const auto& [index, project] = name;
            if (noted.stale_roots.contains(index)) continue;
            WHEELYARD_ASSIGN(const bool is_known, exists(project_folder(tree_, index, project) / html_page));
            bool is_left = false;
            if (what.is_moved) {
                WHEELYARD_ASSIGN(const auto source, catalog_.source_of(inheritance_, index, project));
                is_left = !source;
            }
            if (!is_known || is_left || anew) noted.stale_roots.insert(index);
        }
        state_ = std::move(noted);
        if (record_.says(state_)) return {};
        WHEELYARD_TRY(record_.write(state_));
        // Before the first page of a new project: afterwards nothing tells that the root lacks it.
        return disk_.sync_directory(state_folder(tree_));
    }

    // One damaged project is noted in `done` and holds up nobody.
    base::Status publish_projects(const TouchedProjects& touched, PublishedState& done) {
        const bool bulk = touched.size() >= manner_.bulk_from;
        if (bulk) WHEELYARD_TRY(disk_.begin_bulk(tree_));
        std::size_t count = 0;
        TouchedViews views(catalog_, inheritance_, touched);
        while (true) {
            WHEELYARD_ASSIGN(const auto read, views.read_some(manner_.rows_a_reading));
            if (read.empty()) break;
            for (auto& project : read) {
                const auto& [name, what] = *project.touched;
                const std::size_t lagging_before = report_.lagging.size();
                const auto published = publish_project(project);
                if (!published) {
                    if (is_of_the_machine(published.error())) return base::fail(published.error());
                    report_.lagging.push_back({name.index, name.project, {}, published.error()});
                }
                if (report_.lagging.size() > lagging_before)
                    done.lagging.insert({name.index, name.project, what.deleted});
                if (++count % manner_.settle_every == 0) WHEELYARD_TRY(disk_.settle());
            }
        }
        if (!gone_.empty()) WHEELYARD_TRY(disk_.settle());  // the pages that name them no more come first
        for (const auto& gone : gone_) {
            const auto retracted = files_.retract(gone.name.index, gone.file, gone.keeps_name);
            if (retracted) continue;
            if (is_of_the_machine(retracted.error())) return base::fail(retracted.error());
            report_.lagging.push_back({gone.name.index, gone.name.project, {}, retracted.error()});
            done.lagging.insert({gone.name.index, gone.name.project, touched.at(gone.name).deleted});
        }
        if (!bulk) return {};
        WHEELYARD_TRY(lock_.renew());
        WHEELYARD_TRY(disk_.end_bulk());
        return lock_.renew();
    }

    base::Status publish_project(ProjectRead& project) {
        WHEELYARD_TRY(lock_.renew());
        const auto& [name, touched] = *project.touched;
        auto& found = project.found;
        if (!project.is_shown) {
            // A rule that is newer than the events of this run is left to the run that reads its event.
            if (touched.is_moved) left_.emplace(name, touched);
            return {};
        }
        if (manner_.on_view) manner_.on_view(name, found.view);
        // Of another index that this project is hidden from here.
        if (!touched.is_moved && !touched.from.contains(found.source)) return {};
        WHEELYARD_ASSIGN(const auto gone, gone_from_project(catalog_, inheritance_, name, touched, found));
        std::set<std::string> kept_names;
        if (!gone.empty()) {
            for (const auto& row : found.view.files)
                kept_names.insert(row.filename);
        }
        if (!has_files_of(project)) WHEELYARD_TRY(place_files(found.view.files, touched));
        WHEELYARD_TRY(publish_pages(name, found.view));
        for (const auto& file : gone)
            gone_.push_back({name, file, kept_names.contains(file.filename)});
        return {};
    }

    // Those whose blob is gone or damaged are left off the page; the order stays.
    base::Status place_files(std::vector<catalog::FileRow>& rows, const Touched& touched) {
        std::vector<bool> is_lost;
        for (std::size_t at = 0; at < rows.size(); ++at) {
            WHEELYARD_ASSIGN(const bool is_there, try_file(rows[at], touched.has(rows[at].filename)));
            if (is_there) continue;
            is_lost.resize(rows.size());
            is_lost[at] = true;
        }
        if (is_lost.empty()) return {};
        std::size_t at = 0;
        std::erase_if(rows, [&](const catalog::FileRow&) { return is_lost[at++]; });
        return {};
    }

    // Those that their index shows no more, by another rule than before. The roots are out that do not name
    // them.
    base::Status remove_left_projects() {
        const bool bulk = left_.size() >= manner_.bulk_from;
        if (bulk) WHEELYARD_TRY(disk_.begin_bulk(tree_));
        for (const auto& [name, touched] : left_) {
            WHEELYARD_TRY(lock_.renew());
            const fs::path folder = project_folder(tree_, name.index, name.project);
            WHEELYARD_TRY(remove_pages(disk_, folder));
            WHEELYARD_ASSIGN(const auto gone, gone_with_project(catalog_, name.project, touched));
            for (const auto& file : gone)
                WHEELYARD_TRY(files_.retract(name.index, file, false));
            WHEELYARD_TRY(disk_.remove(folder));
            WHEELYARD_TRY(disk_.sync_directory(folder.parent_path()));
        }
        return bulk ? disk_.end_bulk() : base::Status{};
    }

    base::Status publish_pages(const ProjectName& name, const ProjectView& view) {
        const std::string folder = project_folder_text(tree_, name.index, name.project);
        json().clear();
        html().clear();
        append_project_json(json(), view);
        append_project_html(html(), view);
        WHEELYARD_ASSIGN(const bool changed, write_both(folder));
        if (changed) ++report_.project_pages;
        return {};
    }

    std::string& json() { return pages_.front().bytes; }
    std::string& html() { return pages_.back().bytes; }

    base::Result<bool> write_both(const std::string& folder) {
        return write_pages(disk_, folder, pages_, state_.views.contains(std::string(view_precompressed)));
    }

    // False: the file's blob is gone or damaged. Its neighbours are published without it.
    base::Result<bool> try_file(const catalog::FileRow& row, bool is_touched) {
        auto published = files_.place(row, is_touched);
        if (published) return true;
        if (!is_of_a_file(published.error())) return base::fail(std::move(published.error()));
        report_.lagging.push_back({row.index, row.project, row.filename, std::move(published.error())});
        return false;
    }

    // A stale root that is not written, or not with all its names, stays noted in `done`.
    base::Status publish_roots(const std::set<std::string>& changed_indexes, PublishedState& done) {
        for (const auto& index : state_.stale_roots) {
            bool is_late = false;
            if (manner_.roots == RootPages::prompt && !changed_indexes.contains(index) &&
                !is_to_lose(index)) {
                WHEELYARD_ASSIGN(is_late, is_large_root(index));
            }
            bool is_whole = false;
            if (is_late) {
                report_.late_roots.push_back(index);
            } else {
                WHEELYARD_ASSIGN(is_whole, publish_root(index));
            }
            if (!is_whole) done.stale_roots.insert(index);
        }
        return {};
    }

    // Names go from the root before their pages go: it cannot wait.
    bool is_to_lose(const std::string& index) const {
        return std::any_of(left_.begin(), left_.end(),
                           [&](const auto& left) { return left.first.index == index; });
    }

    base::Result<bool> is_large_root(const std::string& index) {
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(root_folder(tree_, index) / html_page));
        return size && *size >= manner_.large_root_bytes;
    }

    // False: it lacks names whose pages could not be written.
    base::Result<bool> publish_root(const std::string& index) {
        WHEELYARD_TRY(lock_.renew());
        WHEELYARD_ASSIGN(const RootNames names,
                         read_root_names(catalog_, inheritance_, disk_, tree_, index, report_));
        json() = render_root_json(names.projects);
        html() = render_root_html(names.projects);
        WHEELYARD_ASSIGN(const bool changed, write_both(root_folder(tree_, index)));
        if (changed) ++report_.root_pages;
        return names.is_whole;
    }

    base::Result<bool> exists(const fs::path& file) {
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
        return size.has_value();
    }

    const catalog::Catalog& catalog_;
    const fs::path& tree_;
    Disk& disk_;
    TreeLock& lock_;
    PublishManner manner_;
    PublishedRecord record_;
    TreeFiles files_;
    PublishedState state_;
    catalog::Serial files_known_up_to_ = 0;
    catalog::Inheritance inheritance_;
    // Of the folder that is written: one pair for all, which keeps its room. HTML last: its presence is what
    // says that the project is out.
    std::vector<NamedBytes> pages_{{std::string(json_page), {}}, {std::string(html_page), {}}};
    std::vector<Gone> gone_;  // from the pages of this run
    TouchedProjects left_;    // that their index shows no more
    PublishReport report_;
};

}  // namespace

base::Result<PublishReport> publish_with(Disk& disk, const catalog::Catalog& catalog,
                                         const blobs::BlobStore& blobs, const fs::path& tree,
                                         const std::vector<std::string>& indexes, const base::Clock& clock,
                                         const TreeViews& views, const PublishManner& manner) {
    WHEELYARD_TRY(disk.make_directories(state_folder(tree)));
    WHEELYARD_ASSIGN(auto lock, TreeLock::acquire(tree, clock));
    return PublishRun(catalog, blobs, tree, disk, lock, manner).run(indexes, views);
}

base::Result<PublishReport> publish(const catalog::Catalog& catalog, const blobs::BlobStore& blobs,
                                    const fs::path& tree, const std::vector<std::string>& indexes,
                                    const base::Clock& clock, const TreeViews& views, RootPages roots) {
    LocalDisk disk;
    return publish_with(disk, catalog, blobs, tree, indexes, clock, views, {.roots = roots});
}

}  // namespace wheelyard::indexer
