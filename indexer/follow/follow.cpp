// One round: read the event log back to our serial; for each changed project fetch files, write pages, remove
// old files; then write the root, the log, the wheel list and, last, the serial.
//
// The source may publish during the round. A page that we fetch is at least as new as the log that we read
// before it, and its files exist. If one is deleted in between, its 404 makes us fetch the page again.
#include "indexer/follow/follow.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "indexer/follow/followed_files.hpp"
#include "indexer/follow/followed_page.hpp"
#include "indexer/follow/followed_source.hpp"
#include "indexer/follow/followed_wheel_list.hpp"
#include "indexer/follow/signed_source.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/publish/flat_pages.hpp"
#include "indexer/tree/event_log.hpp"
#include "indexer/tree/followed_state.hpp"
#include "indexer/tree/limits.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"
#include "indexer/tree/status_file.hpp"
#include "indexer/tree/tree_lock.hpp"
#include "indexer/tree/variants_folders.hpp"
#include "lib/attest/limits.hpp"
#include "lib/attest/root.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/simple/page.hpp"
#include "lib/simple/wheel_list.hpp"
#include "lib/status/index_status.hpp"

namespace wheelyard::indexer {
namespace fs = std::filesystem;

namespace {

// Retries per project and round when files vanish between its page and their download.
constexpr int max_page_reads = 3;

bool is_of_owner_alone(const fs::path& tree) {
    std::error_code error;
    const auto mode = fs::status(tree, error).permissions();
    return !error && (mode & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none;
}

class Follow {
  public:
    Follow(Disk& disk, const FollowOptions& options, io::HttpClient& http, TreeLock& lock,
           FollowedState state, base::Clock& clock)
        : disk_(disk),
          options_(options),
          source_(
              http, state.from, [&lock] { return lock.renew(); }, is_of_owner_alone(options.tree)),
          files_(disk, source_, options.tree, options.index, options.views.find_links,
                 [&lock] { return lock.renew(); }),
          lock_(lock),
          state_(std::move(state)),
          clock_(clock),
          now_(clock.now()) {}

    base::Result<FollowReport> run(std::optional<attest::Root> root) {
        WHEELYARD_ASSIGN(auto log, read_log());
        std::set<std::string> projects;
        if (root) {
            signed_.emplace(disk_, source_,
                            SignedSource::Place{options_.tree, options_.index, options_.signed_as},
                            *std::move(root), now_);
            WHEELYARD_ASSIGN(projects, signed_->open(state_.signed_part, options_.all));
            WHEELYARD_TRY(remember_state());
            report_.warnings = signed_->warnings();
            unlike_ = state_.signed_part.unlike;
        } else {
            WHEELYARD_ASSIGN(projects, projects_of(log.events));
            WHEELYARD_TRY(forget_signed(disk_, options_.tree, options_.index));
        }
        projects.insert(state_.lagging.begin(), state_.lagging.end());
        FollowedState done{.from = state_.from, .serial = log.serial, .lagging = {}};
        WHEELYARD_TRY(follow_projects(projects));
        for (const Lagging& lagging : report_.lagging)
            done.lagging.insert(lagging.project);
        WHEELYARD_ASSIGN(const bool is_root_signed, write_root());
        WHEELYARD_TRY(write_flat());
        for (const auto& project : gone_)
            WHEELYARD_TRY(drop_project(project));
        done.flat_serial = done.serial;
        done.signed_part = state_.signed_part;
        done.signed_part.pages.clear();
        if (signed_) {
            WHEELYARD_ASSIGN(done.signed_part,
                             signed_->keep(is_root_signed && unlike_.empty() && done.lagging.empty()));
            done.signed_part.unlike = unlike_;
        }
        EventLines events;
        for (const auto& event : log.events)
            events.add(event);
        // A source that was restored has lower serials than our log, which would stay as it is.
        if (log.serial < state_.serial)
            WHEELYARD_TRY(disk_.remove(options_.tree / options_.index / event_folder / event_tail));
        WHEELYARD_TRY(append_events(disk_, options_.tree, options_.index, events, report_.from_nothing));
        report_.serial = done.serial;
        WHEELYARD_ASSIGN(done.wheel_list, update_wheel_list(projects));
        WHEELYARD_TRY(follow_status());
        for (const auto& [project, files] : state_.gone) {
            if (done.lagging.contains(project)) done.gone[project] = files;
        }
        if (done != state_) WHEELYARD_TRY(write_state(done));
        report_.files_fetched = files_.fetched();
        report_.bytes_fetched = files_.bytes_fetched();
        report_.files_removed = files_.removed();
        return std::move(report_);
    }

  private:
    // Errors that every other project would meet too end the round.
    static bool is_of_one_project(const base::Error& error) {
        return error.kind == base::ErrorKind::malformed || error.kind == base::ErrorKind::missing ||
               error.kind == base::ErrorKind::refused || error.kind == base::ErrorKind::too_large;
    }

    // Those that fail are in the report.
    base::Status follow_projects(const std::set<std::string>& projects) {
        report_.projects = projects.size();
        std::set<std::string> left = projects;
        for (int waits = 0;; ++waits) {
            std::set<std::string> refused;
            for (const auto& project : left) {
                WHEELYARD_TRY(lock_.renew());
                const auto followed = follow_project(project);
                if (signed_) refused.merge(signed_->take_refused());
                if (followed) continue;
                if (!is_of_one_project(followed.error())) return base::fail(followed.error());
                const bool is_tried_again = refused.contains(project) && waits < attest::max_publish_waits;
                if (!is_tried_again)
                    report_.lagging.push_back({options_.index, project, {}, followed.error()});
            }
            if (refused.empty() || waits == attest::max_publish_waits) return {};
            // The source may be between its pages and their signature.
            clock_.sleep_ms(attest::publish_wait_ms);
            left = std::move(refused);
        }
    }

    // A wheel list that fails does not block the pages; the source's wheel list is updated after its pages too.
    base::Result<FollowedWheelList> update_wheel_list(const std::set<std::string>& projects) {
        const WheelListRound round{.tree = options_.tree,
                                   .index = options_.index,
                                   .projects = projects,
                                   .serial = report_.serial,
                                   .time = now_,
                                   .rebuild = report_.from_nothing};
        const auto renew = [this] { return lock_.renew(); };
        auto followed = follow_wheel_list(disk_, source_, round, state_.wheel_list, renew);
        if (!followed) {
            const base::Error& error = followed.error();
            const bool is_away = error.kind == base::ErrorKind::unavailable;
            if (!is_away && !is_of_one_project(error)) return base::fail(error);
            report_.lagging.push_back(
                {options_.index, std::string(every_project), std::string(simple::wheel_list_name), error});
            FollowedWheelList left = state_.wheel_list;
            left.waiting.insert(projects.begin(), projects.end());
            if (report_.from_nothing) left.waiting.emplace(every_project);
            followed = std::move(left);
        }
        report_.unlisted = followed->waiting.size();
        return followed;
    }

    // What the sites report. Readers of our tree see the same, whatever the name of the index is here.
    base::Status follow_status() {
        const auto there = source_.status();
        auto status = there && *there ? status::parse_index_status(**there)
                      : there         ? base::Result<status::IndexStatus>(status::IndexStatus{})
                                      : base::fail(there.error());
        if (!status) {
            const base::Error& error = status.error();
            if (error.kind != base::ErrorKind::unavailable && !is_of_one_project(error))
                return base::fail(error);
            report_.lagging.push_back(
                {options_.index, std::string(every_project), std::string(status::index_status_name), error});
            return {};
        }
        if (!*there) return disk_.remove(status_file(options_.tree, options_.index));
        status->index = options_.index;
        return write_status_file(disk_, options_.tree, options_.index, status::render_index_status(*status))
            .map([](bool) {});
    }

    // All events after our serial, read from the tail back. With an unknown past, every project is checked.
    base::Result<EventSegment> read_log() {
        WHEELYARD_ASSIGN(EventSegment tail, source_.segment(std::string(event_tail)));
        report_.from_nothing = options_.all || state_.serial == 0 || tail.serial < state_.serial;
        std::vector<EventSegment> segments{std::move(tail)};  // the newest first
        std::size_t count = 0;
        const auto lacks_past = [&] { return segments.back().first > state_.serial + 1; };
        while (!segments.back().previous.empty() && (report_.from_nothing || lacks_past())) {
            count += std::max(segments.back().events.size(), events_per_segment);
            if (count >= options_.max_events) break;
            const std::string name = segments.back().previous;
            WHEELYARD_ASSIGN(EventSegment older, source_.segment(name));
            if (older.first >= segments.back().first || older.events.empty())
                return base::fail_malformed("follow.log",
                                            "The event log's segments are empty or not in descending order",
                                            name, "repair the followed tree");
            segments.push_back(std::move(older));
        }
        if (lacks_past()) report_.from_nothing = true;
        EventSegment log;
        log.serial = segments.front().serial;
        for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
            for (LoggedEvent& event : segment->events) {
                if (report_.from_nothing || event.serial > state_.serial)
                    log.events.push_back(std::move(event));
            }
        }
        return log;
    }

    // The projects of the events. If all must be checked, also those of the root page and of our tree; a
    // large root page may be older than the log, so the root alone does not suffice.
    base::Result<std::set<std::string>> projects_of(const std::vector<LoggedEvent>& events) {
        std::set<std::string> projects;
        bool is_all = report_.from_nothing;
        for (const auto& event : events) {
            if (event.project == every_project)
                is_all = true;
            else
                projects.insert(event.project);
        }
        if (!is_all) return projects;
        WHEELYARD_ASSIGN(const auto theirs, source_.projects());
        WHEELYARD_ASSIGN(const auto ours, names_with_pages(options_.tree, options_.index));
        projects.insert(theirs.begin(), theirs.end());
        projects.insert(ours.begin(), ours.end());
        return projects;
    }

    base::Status follow_project(const std::string& project) {
        if (!is_usable_project(project))
            return base::fail_malformed("follow.name", "The followed index lists an invalid project name",
                                        project, "repair the followed tree");
        const auto check = [&](const std::string& json) -> base::Status {
            if (!signed_) return {};
            auto checked = signed_->check_page(project, json);
            WHEELYARD_TRY(remember_state());
            return checked;
        };
        for (int tries = 0;; ++tries) {
            bool is_wanted = true;
            if (signed_) {
                WHEELYARD_ASSIGN(is_wanted, signed_->has(project));
            }
            std::optional<FollowedPage> page;
            if (is_wanted) {
                WHEELYARD_ASSIGN(page, source_.page(project, check));
            }
            if (is_wanted && !page && signed_) {
                const auto checked = signed_->check_missing(project);
                WHEELYARD_TRY(remember_state());
                WHEELYARD_TRY(checked);
            }
            if (!page) {
                gone_.insert(project);
                flat_[project].clear();
                unlike_.erase(project);
                return {};
            }
            auto files = files_.fetch(*page);
            if (files) files = files_.fetch_variants(project, *page);
            if (files) return show_project(project, *std::move(page));
            if (files.error().kind != base::ErrorKind::missing || tries == max_page_reads) return files;
        }
    }

    base::Status show_project(const std::string& project, FollowedPage page) {
        const fs::path folder = project_folder(options_.tree, options_.index, project);
        WHEELYARD_TRY(files_.sync_flat());
        WHEELYARD_TRY(note_gone(project, page));
        files_.read_metadata_names(page);
        const std::vector<NamedBytes> pages{{std::string(json_page), render_project_json(page.view)},
                                            {std::string(html_page), render_project_html(page.view)}};
        WHEELYARD_ASSIGN(const bool changed, write_pages(disk_, folder, pages, options_.views.precompressed));
        if (changed) ++report_.project_pages;
        flat_[project] = render_flat_links(page.view);
        if (signed_) {
            WHEELYARD_ASSIGN(const bool is_same,
                             signed_->is_ours_signed(project, pages.back().bytes, pages.front().bytes));
            if (is_same)
                unlike_.erase(project);
            else
                unlike_.insert(project);
        }
        WHEELYARD_TRY(remove_old_variants(disk_, folder.native(), page.view.variants));
        const auto gone = state_.gone.find(project);
        if (gone == state_.gone.end()) return {};
        for (const auto& file : gone->second) {
            bool stays = false;
            bool keeps_name = false;  // another file has it: the index now inherits the project
            for (const Promised& now : page.files) {
                stays = stays || now.file == file;
                keeps_name = keeps_name || now.file.filename == file.filename;
            }
            if (!stays) WHEELYARD_TRY(files_.remove(file, keeps_name));
        }
        return {};
    }

    // Without files: there is none.
    base::Result<FollowedPage> our_page(const std::string& project) const {
        const auto text = base::read_file(project_folder(options_.tree, options_.index, project) / json_page,
                                          max_page_bytes);
        return text ? read_followed_page(*text, state_.from, project)
                    : base::Result<FollowedPage>(FollowedPage());
    }

    // Recorded before the page changes: afterwards nothing shows which files the old page listed.
    base::Status note_gone(const std::string& project, const FollowedPage& page) {
        const auto named = our_page(project);
        if (!named) return {};
        std::set<TreeFile> gone;
        for (const auto& file : named->files)
            gone.insert(file.file);
        for (const auto& file : page.files)
            gone.erase(file.file);
        if (gone.empty()) return {};
        state_.gone[project].merge(gone);
        WHEELYARD_TRY(write_state(state_));
        return disk_.sync_directory(state_folder(options_.tree));
    }

    // Durable before a page of this state is shown: a source that fails in the middle of the round cannot show an earlier
    // state in the next one.
    base::Status remember_state() {
        const attest::SeenState seen = signed_->seen();
        if (seen == attest::SeenState{state_.signed_part.history, state_.signed_part.serial}) return {};
        state_.signed_part.history = seen.history;
        state_.signed_part.serial = seen.serial;
        WHEELYARD_TRY(write_state(state_));
        return disk_.sync_directory(state_folder(options_.tree));
    }

    base::Status write_state(const FollowedState& state) {
        return disk_.replace(followed_file(options_.tree, options_.index), render_followed_state(state));
    }

    // The root no longer lists the project. Only a replaced or repaired source loses projects.
    base::Status drop_project(const std::string& project) {
        const fs::path folder = project_folder(options_.tree, options_.index, project);
        const auto named = our_page(project);
        WHEELYARD_TRY(remove_pages(disk_, folder));
        WHEELYARD_TRY(remove_old_variants(disk_, folder.native(), {}));
        WHEELYARD_TRY(disk_.remove(folder));
        if (!named) return {};
        for (const auto& file : named->files)
            WHEELYARD_TRY(files_.remove(file.file, false));
        return {};
    }

    // A page that is not there yet, or that another program left behind, is made of our own pages.
    base::Status write_flat() {
        WHEELYARD_ASSIGN(auto links, read_flat_page(disk_, options_.tree, options_.index));
        if (state_.flat_serial != state_.serial) links.reset();
        if (links && flat_.empty()) return {};
        if (!links) {
            WHEELYARD_ASSIGN(const auto names, names_with_pages(options_.tree, options_.index));
            links.emplace();
            for (const std::string& project : names) {
                auto page = our_page(project);
                if (!page) continue;
                files_.read_metadata_names(*page);
                (*links)[project] = render_flat_links(page->view);
            }
        }
        for (auto& [project, text] : flat_)
            (*links)[project] = std::move(text);
        std::erase_if(*links, [](const auto& project) { return project.second.empty(); });
        return write_flat_page(disk_, options_.tree, options_.index, *links);
    }

    // Whether it is the signed one.
    base::Result<bool> write_root() {
        WHEELYARD_ASSIGN(auto names, names_with_pages(options_.tree, options_.index));
        std::erase_if(names, [&](const std::string& name) { return gone_.contains(name); });
        const fs::path folder = root_folder(options_.tree, options_.index);
        const std::vector<NamedBytes> pages{{std::string(json_page), render_root_json(names)},
                                            {std::string(html_page), render_root_html(names)}};
        WHEELYARD_TRY(write_pages(disk_, folder, pages, options_.views.precompressed));
        return signed_ ? signed_->is_ours_signed({}, pages.back().bytes, pages.front().bytes)
                       : base::Result<bool>(false);
    }

    Disk& disk_;
    const FollowOptions& options_;
    FollowedSource source_;
    FollowedFiles files_;
    TreeLock& lock_;
    FollowedState state_;
    std::optional<SignedSource> signed_;  // if there is a root document
    std::set<std::string> unlike_;        // SignedPart::unlike, as it becomes
    std::set<std::string> gone_;          // projects that the source does not have
    FlatLinks flat_;                      // what this round changes of the page of --find-links
    base::Clock& clock_;
    base::UnixMicros now_;
    FollowReport report_;
};

base::Result<FollowOptions> normalize_options(FollowOptions options) {
    if (!options.from.ends_with('/')) options.from += '/';
    WHEELYARD_ASSIGN(const auto url, base::parse_url(options.from));
    options.from = url.text();
    const std::string path = url.path.substr(0, url.path.size() - 1);
    for (std::string* name : {&options.index, &options.signed_as}) {
        if (name->empty()) *name = base::base_name(path);
    }
    const bool is_name = !options.index.empty() && options.index.front() != '.' &&
                         options.index.find('/') == std::string::npos;
    if (!is_name || (url.scheme != "http" && url.scheme != "https"))
        return base::fail(
            "follow.from", "Expected the URL of an index", url.text_without_secrets(),
            "give a URL such as https://wheels.example.org/main/, or name the index with --index");
    return options;
}

}  // namespace

base::Result<FollowReport> follow_with(Disk& disk, const FollowOptions& wanted, io::HttpClient& http,
                                       base::Clock& clock) {
    WHEELYARD_ASSIGN(const FollowOptions options, normalize_options(wanted));
    std::optional<attest::Root> root;
    if (!options.root.empty()) {
        WHEELYARD_ASSIGN(const std::string text, base::read_file(options.root, attest::max_signed_bytes));
        WHEELYARD_ASSIGN(root, attest::read_root(text));
    }
    WHEELYARD_TRY(disk.make_directories(state_folder(options.tree)));
    WHEELYARD_ASSIGN(auto lock, TreeLock::acquire(options.tree, clock));
    WHEELYARD_TRY(disk.remove_leftovers(state_folder(options.tree)));
    WHEELYARD_ASSIGN(auto state, read_followed_state(disk, options.tree, options.index));
    if (state.from != options.from) {
        if (!state.from.empty() && !options.all) {
            return base::fail("follow.other_source", "This tree follows another URL", state.from,
                              "pass --all to switch; every project is then compared");
        }
        // The new source has another history, so the log starts over.
        WHEELYARD_TRY(disk.remove(options.tree / options.index / event_folder / event_tail));
        // A root document that trusts both knows one order of serials.
        SignedPart seen{.history = state.signed_part.history, .serial = state.signed_part.serial};
        state = {.from = options.from, .serial = 0, .lagging = {}, .signed_part = std::move(seen)};
    }
    return Follow(disk, options, http, lock, std::move(state), clock).run(std::move(root));
}

base::Result<FollowReport> follow(const FollowOptions& options, io::HttpClient& http, base::Clock& clock) {
    LocalDisk disk;
    return follow_with(disk, options, http, clock);
}

}  // namespace wheelyard::indexer
