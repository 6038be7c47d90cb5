// The publish run: read the log since the last time, then write what it touches, so that a reader may look at
// any moment and the machine may die at any moment.
//
// Every page is rendered from rows read *after* the last serial was read. Such rows may already hold a later
// commit; that is harmless, because a page is written only after every file of its own rows is in place, and
// the later event is simply processed again. One damaged project or file holds up nobody else: it is noted,
// reported and tried again by every run. The root is the one page that names other pages: names whose
// pages are not out yet are left to the run that publishes them.
#include "indexer/publish.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "indexer/disk.hpp"
#include "indexer/limits.hpp"
#include "indexer/paths.hpp"
#include "indexer/project_view.hpp"
#include "indexer/publish_run.hpp"
#include "indexer/published_state.hpp"
#include "indexer/simple_html.hpp"
#include "indexer/simple_json.hpp"
#include "lib/base/lock_file.hpp"
#include "registry/catalog/file_row.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

struct ProjectName {
    std::string index;
    std::string project;
    auto operator<=>(const ProjectName&) const = default;
};
struct Touched {
    std::set<std::string> filenames;
    std::set<TreeFile> deleted;
};
using TouchedProjects = std::map<ProjectName, Touched>;

// A full or read-only disk is no one project's: the whole run fails and keeps its place in the log.
bool is_of_the_machine(const base::Error& error) {
    constexpr std::array<std::string_view, 4> codes{"os.ENOSPC", "os.EDQUOT", "os.EROFS", "lock.lost"};
    return std::find(codes.begin(), codes.end(), error.code) != codes.end() ||
           !(error.code.starts_with("os.") || error.code.starts_with("publish."));
}

class PublishRun {
  public:
    PublishRun(const catalog::Catalog& catalog, const blobs::BlobStore& blobs, const fs::path& tree,
               Disk& disk, const base::Clock& clock, base::LockFile& lock)
        : catalog_(catalog),
          blobs_(blobs),
          tree_(tree),
          disk_(disk),
          clock_(clock),
          lock_(lock),
          renewed_(clock.now()) {}

    base::Result<PublishReport> run(const std::vector<std::string>& indexes) {
        WHEELYARD_TRY(read_state());
        WHEELYARD_ASSIGN(report_.serial, catalog_.last_serial());
        WHEELYARD_TRY(check_tree_is_not_ahead());
        WHEELYARD_ASSIGN(auto touched, touched_since(state_.serial, report_.serial));
        for (const auto& stale : state_.lagging)
            touched[{stale.index, stale.project}].deleted.insert(stale.deleted.begin(), stale.deleted.end());
        WHEELYARD_TRY(note_stale_roots(touched, indexes));
        PublishedState done{.serial = report_.serial, .stale_roots = {}, .lagging = {}};
        for (const auto& [name, what] : touched) {
            const std::size_t lagging_before = report_.lagging.size();
            const auto published = publish_project(name, what);
            if (!published) {
                if (is_of_the_machine(published.error())) return base::fail(published.error());
                report_.lagging.push_back({name.index, name.project, {}, published.error()});
            }
            if (report_.lagging.size() > lagging_before)
                done.lagging.insert({name.index, name.project, what.deleted});
        }
        for (const auto& index : state_.stale_roots) {
            WHEELYARD_ASSIGN(const bool is_whole, publish_root(index));
            if (!is_whole) done.stale_roots.insert(index);
        }
        WHEELYARD_TRY(write_state(std::move(done)));
        return report_;
    }

  private:
    base::Status read_state() {
        const fs::path file = state_file();
        WHEELYARD_TRY(disk_.remove_leftovers(state_folder(tree_)));
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
        if (!size) return {};
        WHEELYARD_ASSIGN(const auto text, disk_.read(file, longest_state_bytes));
        WHEELYARD_ASSIGN(state_, parse_published_state(text));
        return {};
    }

    // Unchanged state is not written: a run without news costs no fsync.
    base::Status write_state(PublishedState state) {
        if (state == state_) return {};
        WHEELYARD_TRY(disk_.replace(state_file(), render_published_state(state)));
        state_ = std::move(state);
        return {};
    }

    base::Status check_tree_is_not_ahead() const {
        if (state_.serial <= report_.serial) return {};
        return base::fail("publish.tree_ahead",
                          "The tree shows serial " + std::to_string(state_.serial) +
                              " but the catalog ends at " + std::to_string(report_.serial),
                          tree_.native(),
                          "this is another catalog or an older copy of it; publish it into a new folder and "
                          "compare the two");
    }

    // The projects of events in (after, until], and in *those of `index` alone* beyond it when asked by
    // publish_root.
    base::Result<TouchedProjects> touched_since(catalog::Serial after, catalog::Serial until) {
        TouchedProjects touched;
        while (after < until) {
            WHEELYARD_ASSIGN(const auto events, catalog_.events_after(after, events_at_once));
            if (events.empty()) break;
            for (const auto& event : events) {
                after = event.serial;
                if (event.serial > until) break;
                ++report_.events;
                if (event.project.empty()) continue;  // gc's: no page shows it
                Touched& project = touched[{event.index, event.project}];
                project.filenames.insert(event.filename);
                if (event.kind != catalog::EventKind::file_deleted) continue;
                WHEELYARD_ASSIGN(const auto row, catalog::parse_file_row(event.details_json));
                project.deleted.insert({row.sha256, row.filename});
            }
        }
        return touched;
    }

    base::Status note_stale_roots(const TouchedProjects& touched, const std::vector<std::string>& indexes) {
        PublishedState noted = state_;
        for (const auto& index : indexes) {
            WHEELYARD_ASSIGN(const bool has_root, exists(root_folder(tree_, index) / html_page));
            if (!has_root) noted.stale_roots.insert(index);
        }
        for (const auto& [name, what] : touched) {
            const auto& [index, project] = name;
            if (noted.stale_roots.contains(index)) continue;
            WHEELYARD_ASSIGN(const bool is_known, exists(project_folder(tree_, index, project) / html_page));
            if (!is_known) noted.stale_roots.insert(index);
        }
        return write_state(std::move(noted));
    }

    base::Status publish_project(const ProjectName& name, const Touched& touched) {
        const auto& [index, project] = name;
        WHEELYARD_TRY(renew_lock());
        WHEELYARD_ASSIGN(const auto project_row, catalog_.project(index, project));
        WHEELYARD_ASSIGN(auto rows, catalog_.files(index, project));
        const auto status = project_row ? project_row->status : catalog::ProjectStatus::active;
        std::vector<catalog::FileRow> offered;
        std::set<TreeFile> hidden = touched.deleted;
        for (auto& row : rows) {
            if (!is_offered(row, status)) {
                hidden.insert({row.sha256, row.filename});
                continue;
            }
            WHEELYARD_ASSIGN(const bool is_there, try_file(row, touched.filenames.contains(row.filename)));
            if (is_there) offered.push_back(std::move(row));
        }
        ProjectView view = make_project_view(project, std::move(offered));
        view.status = status;
        if (project_row) view.status_reason = project_row->status_reason;
        WHEELYARD_TRY(publish_pages(name, view));
        for (const auto& file : hidden)
            WHEELYARD_TRY(retract_file(index, file));
        return {};
    }

    base::Status publish_pages(const ProjectName& name, const ProjectView& view) {
        const fs::path folder = project_folder(tree_, name.index, name.project);
        WHEELYARD_TRY(disk_.make_directories(folder));
        WHEELYARD_TRY(disk_.remove_leftovers(folder));
        // HTML last: its presence is what says that the project is out.
        WHEELYARD_ASSIGN(const bool json_changed, write_page(folder / json_page, render_project_json(view)));
        WHEELYARD_ASSIGN(const bool html_changed, write_page(folder / html_page, render_project_html(view)));
        if (json_changed || html_changed) ++report_.project_pages;
        return {};
    }

    // False: the file's blob is gone or damaged. Its neighbours are published without it.
    base::Result<bool> try_file(const catalog::FileRow& row, bool is_touched) {
        auto published = publish_file(row, is_touched);
        if (published) return true;
        if (!published.error().code.starts_with("publish.")) return base::fail(std::move(published.error()));
        report_.lagging.push_back({row.index, row.project, row.filename, std::move(published.error())});
        return false;
    }

    // No page names it any more. A killed run may have removed it and not come to sync the folder.
    base::Status retract_file(const std::string& index, const TreeFile& gone) {
        const fs::path folder = file_folder(tree_, index, gone.sha256);
        const fs::path file = folder / gone.filename;
        const fs::path metadata = folder / (gone.filename + std::string(metadata_suffix));
        WHEELYARD_ASSIGN(const bool has_file, exists(file));
        WHEELYARD_ASSIGN(const bool has_metadata, exists(metadata));
        if (has_file || has_metadata) {
            WHEELYARD_TRY(disk_.remove(file));
            WHEELYARD_TRY(disk_.remove(metadata));
            WHEELYARD_TRY(disk_.sync_directory(folder));
            ++report_.files_removed;
        }
        WHEELYARD_ASSIGN(const bool has_folder, exists(folder));
        if (has_folder) WHEELYARD_TRY(disk_.remove(folder));
        WHEELYARD_ASSIGN(const bool has_parent, exists(folder.parent_path()));
        return has_parent ? disk_.sync_directory(folder.parent_path()) : base::Status{};
    }

    // A file of this run's events may have been put in place by a killed run that never came to sync its
    // folder.
    base::Status publish_file(const catalog::FileRow& row, bool is_touched) {
        const fs::path folder = file_folder(tree_, row.index, row.sha256);
        const fs::path file = folder / row.filename;
        const fs::path metadata = folder / (row.filename + std::string(metadata_suffix));
        WHEELYARD_ASSIGN(const bool has_file, is_in_place(file, row.size_bytes));
        WHEELYARD_ASSIGN(const bool has_metadata, is_in_place(metadata, row.metadata_size_bytes));
        if (has_file && has_metadata) return is_touched ? disk_.sync_directory(folder) : base::Status{};

        WHEELYARD_TRY(disk_.make_directories(folder));
        WHEELYARD_TRY(disk_.remove_leftovers(folder));
        if (!has_file) {
            WHEELYARD_TRY(disk_.link_or_copy(blobs_.path_of(row.sha256), file, row.sha256,
                                             [this] { return renew_lock(); }));
            ++report_.files_linked;
        }
        if (!has_metadata) {
            WHEELYARD_TRY(disk_.link_or_copy(blobs_.path_of(row.metadata_sha256), metadata,
                                             row.metadata_sha256, [this] { return renew_lock(); }));
        }
        return disk_.sync_directory(folder);
    }

    // False: it lacks names whose pages could not be written.
    base::Result<bool> publish_root(const std::string& index) {
        WHEELYARD_TRY(renew_lock());
        WHEELYARD_ASSIGN(auto projects, catalog_.projects(index));
        WHEELYARD_TRY(leave_out_unpublished(index, projects));
        WHEELYARD_ASSIGN(const bool is_whole, leave_out_lagging(index, projects));
        const fs::path folder = root_folder(tree_, index);
        WHEELYARD_TRY(disk_.make_directories(folder));
        WHEELYARD_TRY(disk_.remove_leftovers(folder));
        WHEELYARD_ASSIGN(const bool json_changed, write_page(folder / json_page, render_root_json(projects)));
        WHEELYARD_ASSIGN(const bool html_changed, write_page(folder / html_page, render_root_html(projects)));
        if (json_changed || html_changed) ++report_.root_pages;
        return is_whole;
    }

    // Names that were committed while this run was under way. The log is read after the names, so it holds
    // the event of each of them.
    base::Status leave_out_unpublished(const std::string& index, std::vector<std::string>& projects) {
        WHEELYARD_ASSIGN(const auto now, catalog_.last_serial());
        const auto events_before = report_.events;
        WHEELYARD_ASSIGN(const auto late, touched_since(report_.serial, now));
        report_.events = events_before;
        for (const auto& [name, what] : late) {
            const auto& [late_index, project] = name;
            if (late_index != index) continue;
            WHEELYARD_ASSIGN(const bool is_out, exists(project_folder(tree_, index, project) / html_page));
            if (!is_out) std::erase(projects, project);
        }
        return {};
    }

    base::Result<bool> leave_out_lagging(const std::string& index, std::vector<std::string>& projects) {
        bool is_whole = true;
        for (const auto& lagging : report_.lagging) {
            if (lagging.index != index || !lagging.filename.empty()) continue;
            WHEELYARD_ASSIGN(const bool is_out,
                             exists(project_folder(tree_, index, lagging.project) / html_page));
            if (is_out) continue;
            std::erase(projects, lagging.project);
            is_whole = false;
        }
        return is_whole;
    }

    // True when the page's bytes differed and were written.
    base::Result<bool> write_page(const fs::path& file, const std::string& bytes) {
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
        if (size && *size == bytes.size() && bytes.size() <= longest_page_bytes) {
            WHEELYARD_ASSIGN(const auto there, disk_.read(file, longest_page_bytes));
            if (there == bytes) {
                // As above: the bytes may be a killed run's, renamed but not yet synced.
                WHEELYARD_TRY(disk_.sync_directory(file.parent_path()));
                return false;
            }
        }
        WHEELYARD_TRY(disk_.replace(file, bytes));
        return true;
    }

    // The path holds the hash and files appear whole, so the size tells all but deliberate damage, which
    // check.hpp finds.
    base::Result<bool> is_in_place(const fs::path& file, std::uint64_t size_bytes) {
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
        return size == size_bytes;
    }

    base::Result<bool> exists(const fs::path& file) {
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
        return size.has_value();
    }

    base::Status renew_lock() {
        if (clock_.now() - renewed_ < lock_stale_after_ms * 1000 / 4) return {};
        renewed_ = clock_.now();
        return lock_.refresh(clock_);
    }

    fs::path state_file() const { return state_folder(tree_) / "published.json"; }

    const catalog::Catalog& catalog_;
    const blobs::BlobStore& blobs_;
    const fs::path& tree_;
    Disk& disk_;
    const base::Clock& clock_;
    base::LockFile& lock_;
    base::UnixMicros renewed_;
    PublishedState state_;
    PublishReport report_;
};

}  // namespace

base::Result<PublishReport> publish_with(Disk& disk, const catalog::Catalog& catalog,
                                         const blobs::BlobStore& blobs, const fs::path& tree,
                                         const std::vector<std::string>& indexes, const base::Clock& clock) {
    WHEELYARD_TRY(disk.make_directories(state_folder(tree)));
    WHEELYARD_ASSIGN(auto lock,
                     base::LockFile::acquire(state_folder(tree) / "lock", clock, lock_stale_after_ms));
    return PublishRun(catalog, blobs, tree, disk, clock, lock).run(indexes);
}

base::Result<PublishReport> publish(const catalog::Catalog& catalog, const blobs::BlobStore& blobs,
                                    const fs::path& tree, const std::vector<std::string>& indexes,
                                    const base::Clock& clock) {
    LocalDisk disk;
    return publish_with(disk, catalog, blobs, tree, indexes, clock);
}

}  // namespace wheelyard::indexer
