// The publish run: reads the event log since the last run, then writes what it touches. Readers may read at
// any moment and the machine may crash at any moment.
//
// Every page is rendered from rows read *after* the last serial was read. These rows may already contain a
// later change. That is harmless: a page is written only after all files of its own rows are in place, and
// the later event is processed again. Files that came later are left out, since a promoted set appears in the
// order of its events (touched_views.hpp). A damaged project or file does not block the others: it is
// recorded, reported and retried by every run. The root is the only page that lists other pages
// (root_names.cpp); a large one may be left to a later run. A new index appears as a whole, with its root.
#include "indexer/publish/publish.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "indexer/pages/project_rows.hpp"
#include "indexer/pages/project_view.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/publish/flat_pages.hpp"
#include "indexer/publish/kept_pages.hpp"
#include "indexer/publish/machine_wide.hpp"
#include "indexer/publish/publish_run.hpp"
#include "indexer/publish/same_history.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/publish/touched_views.hpp"
#include "indexer/publish/web_run.hpp"
#include "indexer/publish/withdrawn.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/tree/published_state.hpp"
#include "indexer/tree/tree_files.hpp"
#include "indexer/tree/variants_folders.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

struct Gone {
    ProjectName name;
    TreeFile file;
    bool keeps_name = false;  // another file of the index has the same name
};

struct ShownVariants {
    ProjectName name;
    std::vector<catalog::VariantsFile> files;  // without their bytes
};

class PublishRun {
  public:
    PublishRun(const catalog::Catalog& catalog, const blobs::BlobStore& blobs, const fs::path& tree,
               Disk& disk, TreeLock& lock, const PublishSettings& settings)
        : catalog_(catalog),
          tree_(tree),
          disk_(disk),
          lock_(lock),
          settings_(settings),
          record_(disk, tree),
          files_(disk, blobs, tree, [this] { return lock_.renew(); }) {}

    base::Result<PublishReport> run(const std::vector<std::string>& all_indexes, const TreeViews& views,
                                    const base::Clock& clock) {
        WHEELYARD_ASSIGN(state_, record_.read());
        WHEELYARD_ASSIGN(report_.serial, catalog_.last_serial());
        WHEELYARD_TRY(check_same_history(catalog_, state_, tree_));
        WHEELYARD_TRY(check_readers(views.readers));
        WHEELYARD_ASSIGN(inheritance_, catalog_.inheritance(views.readers));
        const std::vector<std::string> indexes = indexes_of_readers(all_indexes);
        const base::KeepAlive renew = [this] { return lock_.renew(); };
        if (state_.copies != kept_copies()) {
            WHEELYARD_TRY(remove_left_copies(disk_, tree_, state_.copies, renew));
            state_.copies = kept_copies();
        }
        WHEELYARD_TRY(withdraw_indexes(disk_, tree_, inheritance_, state_, renew, clock));
        WHEELYARD_TRY(take_over_older_tree(renew));
        bool rewrite_all = add_views(views);
        WHEELYARD_ASSIGN(auto touched, read_touched(catalog_, inheritance_, state_.serial, report_.serial));
        WHEELYARD_ASSIGN(const bool has_entered, enters_tree(touched.changed_indexes));
        if (has_entered) {  // its whole history is new to this tree
            forget_serial(state_);
            rewrite_all = true;
            WHEELYARD_ASSIGN(touched, read_touched(catalog_, inheritance_, 0, report_.serial));
        }
        report_.events = touched.events;
        if (settings_.kept != nullptr)
            WHEELYARD_TRY(settings_.kept->follow(catalog_, inheritance_, report_.serial, root_url()));
        for (const auto& stale : state_.lagging) {
            auto& project = touched.projects[{stale.index, stale.project}];
            project.deleted.insert(stale.deleted.begin(), stale.deleted.end());
            project.is_moved = true;  // may be
        }
        WHEELYARD_TRY(touch_changed_indexes(touched));
        WHEELYARD_TRY(note_stale_roots(touched, indexes, rewrite_all));
        WHEELYARD_ASSIGN(PublishedState done, whole_state());
        WHEELYARD_ASSIGN(const auto new_roots, stage_new_roots());
        WHEELYARD_TRY(publish_projects(touched.projects, done));
        WHEELYARD_TRY(publish_roots(touched.changed_indexes, done));
        for (const auto& folder : new_roots)
            WHEELYARD_TRY(disk_.publish_directory(folder));
        WHEELYARD_TRY(publish_late_pages(indexes, views, done));
        WHEELYARD_TRY(write_late_copies(done));
        WHEELYARD_TRY(remove_gone_files(touched.projects, done));
        WHEELYARD_TRY(remove_left_projects());
        WHEELYARD_TRY(files_.sync_flat());
        note_serials(touched, done);
        // Not synced: after a power cut, the next run repeats the lost part.
        WHEELYARD_TRY(record_.write(done));
        if (settings_.kept != nullptr) settings_.kept->end_run();
        report_.files_linked = files_.linked();
        report_.files_removed = files_.removed();
        return report_;
    }

  private:
    // Programs that kept no serials of indexes kept event logs and signed lists, which would lie there as
    // they are.
    base::Status take_over_older_tree(const base::KeepAlive& keep_alive) {
        if (!state_.serials.empty()) return {};
        WHEELYARD_ASSIGN(const auto names, folders_below(tree_));
        for (const std::string& index : names) {
            if (index.starts_with('.')) continue;
            for (const char* left : {"signed", "events"}) {
                const fs::path folder = tree_ / index / left;
                WHEELYARD_ASSIGN(const bool is_there, exists(folder));
                if (!is_there) continue;
                WHEELYARD_TRY(remove_folder(disk_, folder, keep_alive));
                WHEELYARD_TRY(disk_.sync_directory(folder.parent_path()));
            }
            if (state_.serial > 0) state_.serials[index] = state_.serial;
        }
        return {};
    }

    // Of the last event of each index that the tree shows.
    void note_serials(const TouchedByLog& touched, PublishedState& done) const {
        done.serials = state_.serials;
        for (const auto& [name, what] : touched.projects) {
            if (what.newest == 0) continue;
            catalog::Serial& serial = done.serials[name.index];
            serial = std::max(serial, what.newest);
        }
        for (const std::string& index : touched.changed_indexes)
            done.serials[index] = report_.serial;
    }

    // Who may read it was decided when the tree was published.
    base::Status check_readers(catalog::Readers readers) {
        const bool is_private = readers == catalog::Readers::with_token;
        WHEELYARD_ASSIGN(const bool has_record, exists(published_file(tree_)));
        if (has_record && state_.is_private != is_private)
            return base::fail("publish.other_readers",
                              is_private ? "The tree holds public indexes: private ones would be public there"
                                         : "The tree holds private indexes, which only tokens may read",
                              tree_.native(), "publish into another folder");
        state_.is_private = is_private;
        return {};
    }

    std::vector<std::string> indexes_of_readers(const std::vector<std::string>& all) const {
        std::vector<std::string> indexes;
        std::copy_if(all.begin(), all.end(), std::back_inserter(indexes),
                     [&](const std::string& index) { return inheritance_.is_in(index); });
        return indexes;
    }

    // Says whether one of them has projects and is new to this tree: it was private until now, or public.
    base::Result<bool> enters_tree(const std::set<std::string>& changed_indexes) {
        if (changed_indexes.empty() || state_.serial == 0) return false;
        WHEELYARD_ASSIGN(const auto with_projects, catalog_.indexes());
        for (const std::string& index : with_projects) {
            if (!changed_indexes.contains(index)) continue;
            WHEELYARD_ASSIGN(const bool is_there, exists(root_folder(tree_, index)));
            if (!is_there) return true;
        }
        return false;
    }

    // The state after a run in which nothing lags.
    base::Result<PublishedState> whole_state() const {
        PublishedState done{.serial = report_.serial,
                            .stale_roots = {},
                            .views = state_.views,
                            .root_url = state_.root_url,
                            .is_private = state_.is_private,
                            .copies = state_.copies,
                            .late_copies = state_.late_copies};
        WHEELYARD_ASSIGN(const catalog::EventMark event, catalog_.event_at(report_.serial));
        done.time = event.time;
        done.kind = event.kind;
        return done;
    }

    // A new view covers every project, so the log is read from the beginning. After a kill, the next run
    // repeats this.
    bool add_views(const TreeViews& views) {
        if (views.pages) state_.views.emplace(view_pages);  // the run finds that it has no such pages yet
        const std::size_t before = state_.views.size();
        if (!settings_.check_everything &&
            (!views.find_links || state_.views.contains(std::string(view_find_links))))
            files_known_up_to_ = state_.serial;
        if (views.find_links) state_.views.emplace(view_find_links);
        state_.views.emplace(view_upload_times);
        if (views.precompressed) state_.views.emplace(view_precompressed);
        files_.show_flat(state_.views.contains(std::string(view_find_links)));
        const bool has_moved = views.root_url && state_.root_url && *views.root_url != *state_.root_url;
        if (views.root_url) state_.root_url = views.root_url;
        const bool rewrite_all = has_moved || state_.views.size() > before || settings_.check_everything ||
                                 settings_.rewrite_pages;
        if (rewrite_all) forget_serial(state_);
        return rewrite_all;
    }

    // Says whether the tree has all files of a project according to its record, which is written after the
    // files: nothing touched the project between the record and the read of its rows.
    bool has_files_of(const ProjectRead& project) const {
        const Touched& touched = project.touched->second;
        return touched.newest <= files_known_up_to_ && !touched.is_moved && project.read_at == report_.serial;
    }

    // Stages the folder of every index that has no root yet; publish_roots writes the root, because it is
    // stale and missing. If the folder exists, it removes what a killed run staged for it.
    base::Result<std::vector<std::string>> stage_new_roots() {
        std::vector<std::string> folders;
        const base::KeepAlive renew = [this] { return lock_.renew(); };
        for (const auto& index : state_.stale_roots) {
            std::string folder = root_folder(tree_, index).native();
            WHEELYARD_ASSIGN(const bool is_there, exists(folder));
            if (is_there) {
                WHEELYARD_TRY(disk_.remove_staged(folder, renew));
                continue;
            }
            WHEELYARD_TRY(disk_.stage_directory(folder, renew));
            folders.push_back(std::move(folder));
        }
        return folders;
    }

    // Touches every project that these indexes show or have shown: a folder in the tree marks the latter.
    base::Status touch_changed_indexes(TouchedByLog& touched) {
        for (const auto& index : touched.changed_indexes) {
            WHEELYARD_ASSIGN(auto names, catalog_.shown_projects(inheritance_, index));
            WHEELYARD_ASSIGN(const auto in_tree, names_with_folders(tree_, index));
            names.insert(names.end(), in_tree.begin(), in_tree.end());
            for (const auto& project : names) {
                Touched& what = touched.projects[{index, project}];
                what.is_moved = true;
                // The file may have been deleted while the index still inherited from that index.
                const auto deleted = touched.deleted.find(project);
                if (deleted != touched.deleted.end())
                    what.deleted.insert(deleted->second.begin(), deleted->second.end());
            }
        }
        return {};
    }

    base::Status note_stale_roots(const TouchedByLog& touched, const std::vector<std::string>& indexes,
                                  bool rewrite_all) {
        PublishedState noted = state_;
        noted.stale_roots.insert(touched.changed_indexes.begin(), touched.changed_indexes.end());
        for (const auto& index : indexes) {
            WHEELYARD_ASSIGN(const bool has_root, exists(root_folder(tree_, index) / html_page));
            if (!has_root || rewrite_all) noted.stale_roots.insert(index);
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
            if (!is_known || is_left || rewrite_all) noted.stale_roots.insert(index);
        }
        state_ = std::move(noted);
        if (record_.says(state_)) return {};
        WHEELYARD_TRY(record_.write(state_));
        // Before the first page of a new project: once it exists, nothing else shows that the root lacks it.
        return disk_.sync_directory(state_folder(tree_));
    }

    // A damaged project is recorded in `done` and does not block the others.
    base::Status publish_projects(const TouchedProjects& touched, PublishedState& done) {
        const bool bulk = touched.size() >= settings_.bulk_from;
        if (bulk) WHEELYARD_TRY(disk_.begin_bulk(tree_));
        std::size_t count = 0;
        TouchedViews views(catalog_, inheritance_, touched, report_.serial, settings_.kept);
        while (true) {
            WHEELYARD_ASSIGN(const auto read, views.read_some(settings_.rows_per_read));
            if (read.empty()) break;
            for (auto& project : read) {
                const auto& [name, what] = *project.touched;
                const std::size_t lagging_before = report_.lagging.size();
                const auto published = publish_project(project, done);
                if (!published) {
                    if (is_machine_wide(published.error())) return base::fail(published.error());
                    report_.lagging.push_back({name.index, name.project, {}, published.error()});
                }
                if (report_.lagging.size() > lagging_before)
                    done.lagging.insert({name.index, name.project, what.deleted});
                if (++count % settings_.flush_every == 0) WHEELYARD_TRY(disk_.flush_pending());
                if (settings_.progress) settings_.progress("pages", count, touched.size());
            }
        }
        if (!bulk) return {};
        WHEELYARD_TRY(lock_.renew());
        WHEELYARD_TRY(disk_.end_bulk());
        return lock_.renew();
    }

    // The pages of --find-links and the web UI, if this run is the one that writes them. Pages that may name
    // a file that leaves cannot be late, nor those of a project that lagged: its event has passed.
    base::Status publish_late_pages(const std::vector<std::string>& indexes, const TreeViews& views,
                                    PublishedState& done) {
        const bool has_web = state_.views.contains(std::string(view_pages));
        done.flat_serial = state_.flat_serial;
        if (has_web) done.pages = state_.pages;
        FarmText farm = views.farm.value_or(state_.pages.farm);
        keep_readers(farm, inheritance_);
        const std::string look = look_of(farm);
        const catalog::Serial after = state_.pages.look == look ? state_.pages.serial : 0;
        std::set<ProjectName> again;
        for (const auto* lagging : {&state_.lagging, &done.lagging}) {
            for (const auto& stale : *lagging)
                again.insert({stale.index, stale.project});
        }
        for (const auto& [name, what] : left_)
            again.insert(name);
        for (const auto& gone : gone_)
            again.insert(gone.name);
        const bool is_current = done.flat_serial == report_.serial &&
                                (!has_web || done.pages == PagesState{report_.serial, look, farm});
        report_.are_pages_late = settings_.roots == RootPages::prompt && again.empty() && !is_current;
        if (report_.are_pages_late) return {};
        const base::KeepAlive renew = [this] { return lock_.renew(); };
        FlatRun flat(disk_, catalog_, tree_, inheritance_, renew, root_url(), settings_.rows_per_read);
        WHEELYARD_TRY(flat.run(state_.flat_serial, report_.serial, again, indexes));
        done.flat_serial = report_.serial;
        if (!has_web) return {};
        WebRun web(
            disk_, catalog_, tree_, inheritance_, farm, renew,
            {.precompressed = is_precompressed(),
             .bulk_from = settings_.bulk_from,
             .flush_every = settings_.flush_every,
             .rows_per_read = settings_.rows_per_read,
             .projects_per_report = settings_.roots == RootPages::all ? settings_.projects_per_report : 0,
             .progress = settings_.progress});
        WHEELYARD_TRY(web.run(after, report_.serial, again, indexes));
        for (const Lagging& lagging : web.lagging()) {
            report_.lagging.push_back(lagging);
            done.lagging.insert({lagging.index, lagging.project, {}});
        }
        report_.web_pages = web.pages();
        report_.are_pages_late = web.has_left();
        done.pages = {report_.serial, look, farm};
        return {};
    }

    // After every page that listed them. The pages of a bulk run appear late.
    base::Status remove_gone_files(const TouchedProjects& touched, PublishedState& done) {
        const bool bulk = gone_.size() >= settings_.bulk_from && !gone_.empty();
        if (bulk) WHEELYARD_TRY(disk_.begin_bulk(tree_));
        const auto note = [&](const ProjectName& name, const base::Status& removed) -> base::Status {
            if (removed || is_machine_wide(removed.error())) return removed;
            report_.lagging.push_back({name.index, name.project, {}, removed.error()});
            done.lagging.insert({name.index, name.project, touched.at(name).deleted});
            return {};
        };
        for (const auto& gone : gone_)
            WHEELYARD_TRY(note(gone.name, files_.retract(gone.name.index, gone.file, gone.keeps_name)));
        for (const auto& [name, files] : variants_) {
            WHEELYARD_TRY(lock_.renew());
            const std::string folder = project_folder_text(tree_, name.index, name.project);
            WHEELYARD_TRY(note(name, remove_old_variants(disk_, folder, files)));
        }
        if (!bulk) return {};
        WHEELYARD_TRY(lock_.renew());
        WHEELYARD_TRY(disk_.end_bulk());
        return lock_.renew();
    }

    // Compressed copies of pages that runs with RootPages::prompt left, from the pages as they are by now.
    base::Status write_late_copies(PublishedState& done) {
        if (settings_.roots == RootPages::all) {
            std::set<std::string> left;
            for (const std::string& folder : done.late_copies) {
                WHEELYARD_TRY(lock_.renew());
                const auto written = write_copies(disk_, (tree_ / folder).native(), is_precompressed());
                if (!written && is_machine_wide(written.error())) return written;
                if (!written) left.insert(folder);
            }
            done.late_copies = std::move(left);
        }
        report_.late_copies = done.late_copies.size();
        return {};
    }

    base::Status publish_project(ProjectRead& project, PublishedState& done) {
        WHEELYARD_TRY(lock_.renew());
        const auto& [name, touched] = *project.touched;
        auto& found = project.found;
        if (!project.is_shown) {
            // A rule that is newer than this run's events is left to the run that reads its event.
            if (touched.is_moved) left_.emplace(name, touched);
            return {};
        }
        if (settings_.on_view) settings_.on_view(name, found.view);
        // The events belong to another index that this project is hidden behind.
        if (!touched.is_moved && !touched.from.contains(found.source)) return {};
        if (touched.is_moved) WHEELYARD_TRY(find_indexes_with_projects());
        const std::vector<std::string> none;
        WHEELYARD_ASSIGN(const auto gone, gone_from_project(catalog_, inheritance_, name, touched, found,
                                                            with_projects_ ? *with_projects_ : none));
        std::set<std::string> kept_names;
        if (!gone.empty()) {
            for (const auto& row : found.view.files)
                kept_names.insert(row.filename);
        }
        const std::size_t offered = found.view.files.size();
        if (!has_files_of(project)) WHEELYARD_TRY(place_files(found.view.files, touched));
        const bool has_lost = found.view.files.size() != offered;
        if (has_lost) found.view.variants = catalog::variants_files(found.view.files);
        found.view.root_url = root_url();
        const bool had_variants = has_lost || std::any_of(gone.begin(), gone.end(), [](const TreeFile& file) {
                                      return catalog::is_variant_wheel(file.filename);
                                  });
        ProjectRows& rows = found.is_whole() ? rows_ : *found.kept;
        if (found.is_whole()) rows.render(found.view);
        for (std::size_t at = 0; !found.is_whole() && at < found.view.files.size(); ++at)
            rows.put(found.view.files[at], found.view);
        WHEELYARD_TRY(publish_pages(name, found.view, rows, done));
        if (settings_.kept != nullptr && has_lost) settings_.kept->forget(name);
        if (settings_.kept != nullptr && !has_lost) settings_.kept->note_written(name, found, rows);
        if (had_variants || !found.view.variants.empty()) {
            for (catalog::VariantsFile& file : found.view.variants) {
                file.bytes.clear();
                file.bytes.shrink_to_fit();
            }
            variants_.push_back({name, std::move(found.view.variants)});
        }
        for (const auto& file : gone)
            gone_.push_back({name, file, kept_names.contains(file.filename)});
        return {};
    }

    // Reads all names of projects, so only where a rule has changed, and once for all projects of the run.
    base::Status find_indexes_with_projects() {
        if (with_projects_) return {};
        return catalog_.indexes().map(
            [this](std::vector<std::string> indexes) { with_projects_ = std::move(indexes); });
    }

    // Removes rows whose blob is missing or damaged; keeps the order.
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

    // Removes projects that their index no longer shows after a rule change. The published roots no longer
    // list them.
    base::Status remove_left_projects() {
        const bool bulk = left_.size() >= settings_.bulk_from;
        if (bulk) WHEELYARD_TRY(disk_.begin_bulk(tree_));
        for (const auto& [name, touched] : left_) {
            WHEELYARD_TRY(lock_.renew());
            const fs::path folder = project_folder(tree_, name.index, name.project);
            WHEELYARD_TRY(remove_pages(disk_, folder));
            WHEELYARD_TRY(remove_old_variants(disk_, folder.native(), {}));
            WHEELYARD_TRY(find_indexes_with_projects());
            WHEELYARD_ASSIGN(const auto gone,
                             gone_with_project(catalog_, name.project, touched, *with_projects_));
            for (const auto& file : gone)
                WHEELYARD_TRY(files_.retract(name.index, file, false));
            WHEELYARD_TRY(disk_.remove(folder));
            WHEELYARD_TRY(disk_.sync_directory(folder.parent_path()));
        }
        return bulk ? disk_.end_bulk() : base::Status{};
    }

    base::Status publish_pages(const ProjectName& name, const ProjectView& view, const ProjectRows& rows,
                               PublishedState& done) {
        const std::string folder = project_folder_text(tree_, name.index, name.project);
        WHEELYARD_TRY(place_variants(disk_, folder, view.variants));
        json().clear();
        html().clear();
        rows.append_json(json(), view);
        rows.append_html(html(), view);
        bool lacks_copies = false;
        // Of more projects they are written at once: the record has a limit (max_state_bytes).
        const bool may_lack_copies =
            settings_.roots == RootPages::prompt && done.late_copies.size() < max_late_copies;
        WHEELYARD_ASSIGN(const bool changed, write_pages(disk_, folder, pages_, is_precompressed(),
                                                         may_lack_copies ? &lacks_copies : nullptr));
        if (changed) ++report_.project_pages;
        std::string in_tree = folder.substr(tree_.native().size() + 1);
        if (lacks_copies)
            done.late_copies.insert(std::move(in_tree));
        else
            done.late_copies.erase(in_tree);
        return {};
    }

    std::string& json() { return pages_.front().bytes; }
    std::string& html() { return pages_.back().bytes; }

    [[nodiscard]] bool is_precompressed() const {
        return state_.views.contains(std::string(view_precompressed));
    }
    [[nodiscard]] std::string root_url() const { return state_.root_url.value_or(""); }

    // False: the file's blob is missing or damaged. The page is published without it.
    base::Result<bool> try_file(const catalog::FileRow& row, bool is_touched) {
        auto published = files_.place(row, is_touched);
        if (published) return true;
        if (!is_blob_error(published.error())) return base::fail(std::move(published.error()));
        report_.lagging.push_back({row.index, row.project, row.filename, std::move(published.error())});
        return false;
    }

    // A stale root that is not written, or lacks names, stays recorded in `done`.
    base::Status publish_roots(const std::set<std::string>& changed_indexes, PublishedState& done) {
        for (const auto& index : state_.stale_roots) {
            bool is_late = false;
            if (settings_.roots == RootPages::prompt && !changed_indexes.contains(index) &&
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

    // A name must leave the root before its pages are removed, so this root cannot be late.
    bool is_to_lose(const std::string& index) const {
        return std::any_of(left_.begin(), left_.end(),
                           [&](const auto& left) { return left.first.index == index; });
    }

    base::Result<bool> is_large_root(const std::string& index) {
        WHEELYARD_ASSIGN(const auto size, disk_.size_of(root_folder(tree_, index) / html_page));
        return size && *size >= settings_.large_root_bytes;
    }

    // False: it lacks names whose pages could not be written.
    base::Result<bool> publish_root(const std::string& index) {
        WHEELYARD_TRY(lock_.renew());
        WHEELYARD_ASSIGN(const RootNames names,
                         read_root_names(catalog_, inheritance_, disk_, tree_, index, report_));
        json() = render_root_json(names.projects);
        html() = render_root_html(names.projects);
        WHEELYARD_ASSIGN(const bool changed,
                         write_pages(disk_, root_folder(tree_, index), pages_, is_precompressed()));
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
    PublishSettings settings_;
    PublishedRecord record_;
    TreeFiles files_;
    PublishedState state_;
    catalog::Serial files_known_up_to_ = 0;
    catalog::Inheritance inheritance_;
    std::optional<std::vector<std::string>>
        with_projects_;  // indexes whose files the tree may have, once asked
    // Buffers of the current folder, reused for all pages. HTML comes last: its existence marks the project
    // as published.
    std::vector<NamedBytes> pages_{{std::string(json_page), {}}, {std::string(html_page), {}}};
    ProjectRows rows_;                     // of the current project, unless they are kept
    std::vector<Gone> gone_;               // files to remove after the pages of this run
    std::vector<ShownVariants> variants_;  // what these pages list; earlier ones are removed likewise
    TouchedProjects left_;                 // projects that their index no longer shows
    PublishReport report_;
};

}  // namespace

base::Result<PublishReport> publish_with(Disk& disk, const catalog::Catalog& catalog,
                                         const blobs::BlobStore& blobs, const fs::path& tree,
                                         const std::vector<std::string>& indexes, const base::Clock& clock,
                                         const TreeViews& views, const PublishSettings& settings) {
    if (views.readers == catalog::Readers::with_token) WHEELYARD_TRY(make_private_folder(disk, tree));
    WHEELYARD_TRY(disk.make_directories(state_folder(tree)));
    WHEELYARD_ASSIGN(auto lock, TreeLock::acquire(tree, clock));
    return PublishRun(catalog, blobs, tree, disk, lock, settings).run(indexes, views, clock);
}

base::Result<PublishReport> publish(const catalog::Catalog& catalog, const blobs::BlobStore& blobs,
                                    const fs::path& tree, const std::vector<std::string>& indexes,
                                    const base::Clock& clock, const TreeViews& views, RootPages roots,
                                    KeptPages* kept) {
    LocalDisk disk;
    return publish_with(disk, catalog, blobs, tree, indexes, clock, views, {.roots = roots, .kept = kept});
}

}  // namespace wheelyard::indexer
