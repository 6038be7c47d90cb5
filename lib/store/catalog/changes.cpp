// What a change of the catalog means: its rules, its event, and when nothing is to be done. Row and event are
// one transaction, so that log and state always agree.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/marks.hpp"
#include "lib/store/catalog/version_variants.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::catalog {
namespace {

Changed refused(ChangeOutcome outcome, std::string project = {}, std::string value_there = {}) {
    return Changed{.outcome = outcome,
                   .serial = 0,
                   .project = std::move(project),
                   .value_there = std::move(value_there)};
}

Changed changed(Serial serial, std::string project) {
    return Changed{.outcome = ChangeOutcome::changed,
                   .serial = serial,
                   .project = std::move(project),
                   .value_there = {}};
}

Added refused_file(AddOutcome outcome, std::string sha256_there = {}) {
    return Added{.outcome = outcome, .serial = 0, .sha256_there = std::move(sha256_there)};
}

// Says whether the row or mark keeps what this change takes back.
bool keeps(const FileRow& row, EventKind kind) {
    return (kind == EventKind::file_unyanked && row.yanked) ||
           (kind == EventKind::file_released && row.state == FileState::quarantined);
}

EventKind opposite(EventKind taken_back) {
    return taken_back == EventKind::file_unyanked ? EventKind::file_yanked : EventKind::file_quarantined;
}

bool say_same(const FileRow& a, const FileRow& b) {
    return a.yanked == b.yanked && a.yanked_reason == b.yanked_reason && a.state == b.state &&
           a.state_reason == b.state_reason;
}

// The row has what `before` said by the same reason; what it has for another one stays.
void replace_mark(const FileRow& before, const Marks& now, FileRow& row) {
    if (before.yanked && row.yanked_reason == before.yanked_reason) {
        row.yanked = false;
        row.yanked_reason.clear();
    }
    if (before.state == FileState::quarantined && row.state_reason == before.state_reason) {
        row.state = FileState::active;
        row.state_reason.clear();
    }
    now.apply(row);
}

base::Result<FileRow> with_marks(const Catalog& catalog, FileRow row) {
    WHEELYARD_ASSIGN(const auto marks, catalog.marks(row.index, row.project));
    Marks(marks).apply(row);
    return row;
}

}  // namespace

base::Result<std::int64_t> Catalog::wait_change(std::int64_t seen, std::int64_t timeout_ms) const {
    constexpr std::chrono::milliseconds pause(20);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    while (true) {
        WHEELYARD_ASSIGN(const std::int64_t count, change_count());
        const auto now = std::chrono::steady_clock::now();
        if (count != seen || now >= end) return count;
        std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(pause, end - now));
    }
}

base::Result<Serial> Catalog::record(EventKind kind, Event about, const Cause& cause) {
    about.kind = kind;
    about.time = cause.time;
    about.actor = cause.actor;
    about.reason = cause.reason;
    return append_event(about);
}

base::Result<Serial> Catalog::record(EventKind kind, const FileRow& row, const Cause& cause) {
    Event about;
    about.index = row.index;
    about.project = row.project;
    about.filename = row.filename;
    about.details_json = render_file_row(row);
    return record(kind, std::move(about), cause);
}

base::Result<Changed> Catalog::change(const Change& work) {
    Changed done;
    WHEELYARD_TRY(in_transaction([&]() -> base::Result<bool> {
        WHEELYARD_ASSIGN(done, work());
        return done.outcome == ChangeOutcome::changed;
    }));
    return done;
}

base::Result<Changed> Catalog::change_file(const FileName& name, const EditFile& edit) {
    return change([&]() -> base::Result<Changed> {
        WHEELYARD_ASSIGN(auto row, file(name.index, name.filename));
        if (!row) return refused(ChangeOutcome::no_such_file);
        return edit(*row);
    });
}

base::Result<Changed> Catalog::change_named(const FileName& name, EventKind kind, const Cause& cause,
                                            const EditNamed& edit) {
    return change([&]() -> base::Result<Changed> {
        const bool is_version = is_version_name(name.filename);
        FileRow mark = mark_named(name);
        std::vector<FileRow> rows;
        if (is_version) {
            WHEELYARD_ASSIGN(rows, files(name.index, mark.project));
            std::erase_if(rows, [&](const FileRow& row) { return !covers(mark, row); });
        } else {
            WHEELYARD_ASSIGN(auto row, file(name.index, name.filename));
            if (row) rows.push_back(*std::move(row));
        }
        const std::string project = rows.empty() ? mark.project : rows.front().project;
        const bool has_marks = is_upstream_index(name.index) && !mark.project.empty();
        std::vector<FileRow> others;
        if (has_marks) {
            WHEELYARD_ASSIGN(others, marks(name.index, mark.project));
        }
        const auto same = std::find_if(others.begin(), others.end(), [&](const FileRow& other) {
            return covers(other, mark) && covers(mark, other);
        });
        const bool is_new = same == others.end();
        if (!is_new) {
            mark = std::move(*same);
            others.erase(same);
        }
        const bool is_said_of_more = std::any_of(others.begin(), others.end(), [&](const FileRow& other) {
            return keeps(other, kind) && covers(other, mark);
        });
        if (is_said_of_more) return refused(ChangeOutcome::said_of_another, project);
        const FileRow before = mark;
        edit(mark);
        others.push_back(mark);
        const Marks now(others);
        std::optional<Changed> done;
        for (FileRow& row : rows) {
            const FileRow old = row;
            if (is_version && has_marks)
                replace_mark(before, now, row);
            else
                edit(row);
            if (say_same(old, row)) continue;
            WHEELYARD_ASSIGN(done, save(keeps(row, kind) ? opposite(kind) : kind, row, cause));
        }
        // A fetched file in quarantine is not evicted: its row keeps that.
        const bool is_kept = is_version || rows.empty() || !is_new || kind == EventKind::file_yanked;
        if (has_marks && is_kept && !say_same(before, mark)) {
            WHEELYARD_TRY(write_mark(mark));
            WHEELYARD_ASSIGN(const std::size_t count, count_marks(name.index));
            if (is_new && count > max_marks) return refused(ChangeOutcome::too_many_marks, project);
            if (is_version || !done) {
                WHEELYARD_ASSIGN(done, recorded(kind, mark, cause));
            }
        }
        if (done) return *std::move(done);
        if (rows.empty() && is_new) return refused(ChangeOutcome::no_such_file, project);
        const bool is_kept_otherwise =
            is_version && has_marks &&
            std::any_of(rows.begin(), rows.end(), [&](const FileRow& row) { return keeps(row, kind); });
        if (is_kept_otherwise) return refused(ChangeOutcome::said_of_another, project);
        return already_so(project);
    });
}

base::Result<Changed> Catalog::save(EventKind kind, const FileRow& row, const Cause& cause) {
    WHEELYARD_TRY(update_file(row));
    return recorded(kind, row, cause);
}

base::Result<Changed> Catalog::recorded(EventKind kind, const FileRow& row, const Cause& cause) {
    WHEELYARD_ASSIGN(const Serial serial, record(kind, row, cause));
    return changed(serial, row.project);
}

base::Result<Changed> Catalog::bury(const FileRow& row, bool may_return, const Cause& cause) {
    WHEELYARD_TRY(remove_file(row, may_return, cause.time));
    WHEELYARD_ASSIGN(const Serial serial, record(EventKind::file_deleted, row, cause));
    return changed(serial, row.project);
}

// Nothing to change. The caller still waits for the newest serial: an earlier run may not be published yet.
base::Result<Changed> Catalog::already_so(std::string project) const {
    WHEELYARD_ASSIGN(const Serial serial, last_serial());
    return Changed{.outcome = ChangeOutcome::already_so,
                   .serial = serial,
                   .project = std::move(project),
                   .value_there = {}};
}

// An inherited file also keeps its bytes in the inheriting index: otherwise lock files with its hash would
// break.
base::Result<std::optional<Added>> Catalog::find_inherited(const FileRow& row) const {
    WHEELYARD_ASSIGN(const Inheritance rules, inheritance());
    if (!rules.inherits(row.index)) return std::nullopt;
    WHEELYARD_ASSIGN(const auto source, source_of(rules, row.index, row.project));
    if (!source || *source == row.index) return std::nullopt;
    WHEELYARD_ASSIGN(auto inherited, name_holder(*source, row.filename));
    if (inherited && inherited->sha256 == row.sha256) return std::nullopt;
    std::optional<Added> taken;
    if (inherited) {
        taken = refused_file(AddOutcome::name_taken, std::move(inherited->sha256));
    } else {
        WHEELYARD_ASSIGN(taken, find_other_spelling(*source, row));
        if (taken && taken->sha256_there == row.sha256) return std::nullopt;
    }
    if (taken) taken->index_there = *source;
    return taken;
}

// Installers take either of two spellings: which one a user got would be chance.
base::Result<std::optional<Added>> Catalog::find_other_spelling(const std::string& index,
                                                                const FileRow& row) const {
    if (row.is_upstreams) return std::nullopt;
    WHEELYARD_ASSIGN(auto names, filenames_of_version(index, row.project, row.version));
    const std::string key = wheel::spelling_key(row.filename);
    for (std::string& name : names) {
        if (name == row.filename || wheel::spelling_key(name) != key) continue;
        WHEELYARD_ASSIGN(auto there, name_holder(index, name));
        Added taken = refused_file(AddOutcome::name_taken, there ? std::move(there->sha256) : std::string());
        taken.filename_there = std::move(name);
        return taken;
    }
    return std::nullopt;
}

base::Result<std::optional<std::string>> Catalog::find_deleted_spelling(const FileRow& row) const {
    if (row.is_upstreams) return std::nullopt;
    // All spellings of a project begin with one run of letters and digits.
    const auto end = std::find_if_not(row.project.begin(), row.project.end(), base::is_ascii_alnum);
    WHEELYARD_ASSIGN(auto names, deleted_names(row.index, std::string(row.project.begin(), end)));
    const std::string key = wheel::spelling_key(row.filename);
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return wheel::spelling_key(name) == key;
    });
    if (found == names.end()) return std::nullopt;
    return std::move(*found);
}

// Quarantined wheels count: one that is released must not contradict the others.
base::Result<std::optional<Added>> Catalog::find_contradiction(const FileRow& row) const {
    if (row.facts_json.empty() || !is_variant_wheel(row.filename)) return std::nullopt;
    WHEELYARD_ASSIGN(const wheel::Version version, wheel::Version::parse(row.version));
    VersionVariants variants;
    if (const auto alone = variants.add(row); !alone)
        return Added{.outcome = AddOutcome::variants_differ, .why = alone.error()};
    // 1.0 is 1.0.0, and would have a second file of variants with another text.
    WHEELYARD_ASSIGN(const auto names, filenames_of_version(row.index, row.project, row.version));
    for (const std::string& name : names) {
        const auto parsed = wheel::parse_wheel_filename(name);
        if (!parsed || !parsed->variant || parsed->version != version) continue;
        WHEELYARD_ASSIGN(const auto other, file(row.index, name));
        if (!other) continue;
        if (other->version != row.version)
            return Added{.outcome = AddOutcome::variants_differ,
                         .filename_there = name,
                         .why = {"variants.version", "Another variant wheel has this version in another text",
                                 other->version, "write the version as that wheel does"}};
        if (auto together = variants.add(*other); !together)
            return Added{.outcome = AddOutcome::variants_differ,
                         .filename_there = name,
                         .why = std::move(together.error())};
    }
    return std::nullopt;
}

base::Result<std::optional<Added>> Catalog::find_obstacle(const FileRow& row) const {
    WHEELYARD_ASSIGN(auto there, name_holder(row.index, row.filename));
    if (there && there->sha256 == row.sha256)
        return Added{.outcome = AddOutcome::already_there, .serial = there->added, .sha256_there = {}};
    if (there) return refused_file(AddOutcome::name_taken, std::move(there->sha256));
    WHEELYARD_ASSIGN(auto buried, tombstone(row.index, row.filename));
    if (buried && !buried->may_return) return refused_file(AddOutcome::name_was_deleted);
    if (buried && buried->sha256 != row.sha256)
        return refused_file(AddOutcome::name_taken, std::move(buried->sha256));
    WHEELYARD_ASSIGN(const auto its_project, project(row.index, row.project));
    // An archived project takes no uploads; what its upstream has is still fetched.
    const bool is_closed =
        its_project && (its_project->status == ProjectStatus::quarantined ||
                        (its_project->status == ProjectStatus::archived && !is_upstream_index(row.index)));
    if (is_closed) return refused_file(AddOutcome::project_closed);
    WHEELYARD_ASSIGN(auto spelled, find_other_spelling(row.index, row));
    if (spelled) return spelled;
    WHEELYARD_ASSIGN(auto deleted, find_deleted_spelling(row));
    if (deleted) {
        Added refusal = refused_file(AddOutcome::name_was_deleted);
        refusal.filename_there = *std::move(deleted);
        return refusal;
    }
    WHEELYARD_ASSIGN(auto contradicted, find_contradiction(row));
    if (contradicted) return contradicted;
    return find_inherited(row);
}

base::Result<Added> Catalog::add_file(const FileRow& row) {
    WHEELYARD_ASSIGN(const std::vector<Added> added, add_files({&row, 1}));
    return added.front();
}

base::Result<std::vector<Added>> Catalog::add_files(std::span<const FileRow> rows) {
    std::vector<Added> all;
    WHEELYARD_TRY(in_transaction([&]() -> base::Result<bool> {
        bool is_changed = false;
        for (const FileRow& row : rows) {
            WHEELYARD_ASSIGN(std::optional<Added> obstacle, find_obstacle(row));
            if (obstacle) {
                if (obstacle->outcome == AddOutcome::already_there) {
                    WHEELYARD_ASSIGN(const auto there, file(row.index, row.filename));
                    if (there) obstacle->state = there->state;
                    if (there) obstacle->state_reason = there->state_reason;
                }
                all.push_back(*std::move(obstacle));
                continue;
            }
            FileRow marked = row;
            if (row.is_upstreams) {
                WHEELYARD_ASSIGN(marked, with_marks(*this, row));
            }
            // Append the event first: the row refers to its serial.
            WHEELYARD_ASSIGN(const Serial serial,
                             record(EventKind::file_added, marked,
                                    {.actor = row.uploaded_by, .reason = {}, .time = row.upload_time}));
            WHEELYARD_TRY(insert_file(marked, serial));
            all.push_back({.outcome = AddOutcome::added,
                           .serial = serial,
                           .state = marked.state,
                           .state_reason = std::move(marked.state_reason)});
            is_changed = true;
        }
        return is_changed;
    }));
    return all;
}

base::Result<Changed> Catalog::set_yanked(const FileName& name, bool yanked, const Cause& cause) {
    return change_named(name, yanked ? EventKind::file_yanked : EventKind::file_unyanked, cause,
                        [&](FileRow& row) {
                            row.yanked = yanked;
                            row.yanked_reason = yanked ? cause.reason : std::string();
                        });
}

base::Result<Changed> Catalog::set_file_state(const FileName& name, FileState state, const Cause& cause,
                                              const std::function<bool(const FileRow&)>& if_so) {
    const bool quarantines = state == FileState::quarantined;
    return change_named(name, quarantines ? EventKind::file_quarantined : EventKind::file_released, cause,
                        [&](FileRow& row) {
                            if (if_so && !if_so(row)) return;
                            row.state = state;
                            row.state_reason = quarantines ? cause.reason : std::string();
                        });
}

base::Result<std::vector<Changed>> Catalog::change_states(std::span<const StateChange> changes) {
    std::vector<Changed> all;
    const auto change_one = [&](const StateChange& wanted) -> base::Result<Changed> {
        WHEELYARD_ASSIGN(auto row, file(wanted.name.index, wanted.name.filename));
        if (!row) return refused(ChangeOutcome::no_such_file);
        if (!wanted.if_so(*row)) return already_so(row->project);
        const bool quarantines = wanted.state == FileState::quarantined;
        row->state = wanted.state;
        row->state_reason = quarantines ? wanted.cause.reason : std::string();
        if (!quarantines) {
            WHEELYARD_ASSIGN(const FileRow marked, with_marks(*this, *row));
            if (marked.state == FileState::quarantined) return already_so(row->project);
        }
        return save(quarantines ? EventKind::file_quarantined : EventKind::file_released, *row, wanted.cause);
    };
    WHEELYARD_TRY(in_transaction([&]() -> base::Result<bool> {
        for (const StateChange& wanted : changes) {
            WHEELYARD_ASSIGN(Changed one, change_one(wanted));
            all.push_back(std::move(one));
        }
        return std::any_of(all.begin(), all.end(),
                           [](const Changed& one) { return one.outcome == ChangeOutcome::changed; });
    }));
    return all;
}

base::Result<Changed> Catalog::set_pinned(const FileName& name, bool pinned, const Cause& cause) {
    return change_file(name, [&](FileRow& row) -> base::Result<Changed> {
        if (row.pinned == pinned) return already_so(row.project);
        row.pinned = pinned;
        return save(pinned ? EventKind::file_pinned : EventKind::file_unpinned, row, cause);
    });
}

base::Result<Changed> Catalog::delete_file(const FileName& name, const Cause& cause) {
    return change([&]() -> base::Result<Changed> {
        WHEELYARD_ASSIGN(const auto row, file(name.index, name.filename));
        if (!row) {
            WHEELYARD_ASSIGN(const auto buried, tombstone(name.index, name.filename));
            if (buried && !buried->may_return) return already_so({});
            return refused(ChangeOutcome::no_such_file);
        }
        if (row->pinned) return refused(ChangeOutcome::pinned, row->project);
        return bury(*row, false, cause);
    });
}

base::Result<Changed> Catalog::evict(const FileName& name, const Cause& cause) {
    return change_file(name, [&](FileRow& row) -> base::Result<Changed> {
        if (row.pinned) return refused(ChangeOutcome::pinned, row.project);
        if (row.state == FileState::quarantined) return refused(ChangeOutcome::quarantined, row.project);
        return bury(row, true, cause);
    });
}

base::Status Catalog::note_release(const std::string& index, const std::string& project, const Cause& cause) {
    return in_transaction([&]() -> base::Result<bool> {
        Event about;
        about.index = index;
        about.project = project;
        about.details_json = "{}";
        WHEELYARD_TRY(record(EventKind::project_released, std::move(about), cause));
        return true;
    });
}

base::Result<Changed> Catalog::set_project_status(const ProjectRow& wanted, const Cause& cause) {
    return change([&]() -> base::Result<Changed> {
        WHEELYARD_ASSIGN(const auto there, project(wanted.index, wanted.project));
        if (!there && (!is_upstream_index(wanted.index) || wanted.status == ProjectStatus::active))
            return refused(ChangeOutcome::no_such_project, wanted.project);
        if (there && there->status == wanted.status && there->status_reason == wanted.status_reason)
            return already_so(wanted.project);
        WHEELYARD_TRY(write_project(wanted));
        Event about;
        about.index = wanted.index;
        about.project = wanted.project;
        about.details_json = io::Json::object({{"format", "wheelyard.project-status/1"},
                                               {"status", project_status_text(wanted.status)},
                                               {"reason", wanted.status_reason}})
                                 .render();
        WHEELYARD_ASSIGN(const Serial serial,
                         record(EventKind::project_status_changed, std::move(about), cause));
        return changed(serial, wanted.project);
    });
}

// One file of a promotion, in its transaction.
base::Result<Changed> Catalog::promote(const FileName& name, const std::string& to_index, bool would_publish,
                                       const Cause& cause) {
    WHEELYARD_ASSIGN(auto row, file(name.index, name.filename));
    if (!row) return refused(ChangeOutcome::no_such_file);
    if (would_publish) return refused(ChangeOutcome::would_publish, row->project);
    if (row->state == FileState::quarantined) return refused(ChangeOutcome::quarantined, row->project);
    WHEELYARD_ASSIGN(const auto source, project(name.index, row->project));
    if (source && source->status == ProjectStatus::quarantined)
        return refused(ChangeOutcome::quarantined, row->project);
    row->index = to_index;
    row->upload_time = cause.time;  // when it came to be there: resolvers cut by this (PEP 700)
    row->pinned = false;            // a pin is one index's
    WHEELYARD_ASSIGN(const auto obstacle, find_obstacle(*row));
    if (obstacle) {
        switch (obstacle->outcome) {
            case AddOutcome::already_there: {
                WHEELYARD_ASSIGN(const auto there, file(to_index, name.filename));
                if (there && there->state == FileState::quarantined)
                    return refused(ChangeOutcome::quarantined, row->project);
                return already_so(row->project);
            }
            case AddOutcome::name_taken:
                return refused(ChangeOutcome::name_taken, row->project, obstacle->sha256_there);
            case AddOutcome::name_was_deleted:
                return refused(ChangeOutcome::name_was_deleted, row->project);
            case AddOutcome::variants_differ:
                return refused(ChangeOutcome::variants_differ, row->project,
                               obstacle->filename_there.empty()
                                   ? obstacle->why.value
                                   : obstacle->why.value + " in " + obstacle->filename_there);
            case AddOutcome::project_closed:
            case AddOutcome::added:  // which find_obstacle() never gives
                return refused(ChangeOutcome::project_closed, row->project);
        }
    }
    WHEELYARD_ASSIGN(const Serial serial, record(EventKind::file_promoted, *row, cause));
    WHEELYARD_TRY(insert_file(*row, serial));
    return changed(serial, row->project);
}

base::Result<Changed> Catalog::promote_files(const std::string& index, std::span<const std::string> filenames,
                                             const std::string& to_index, const Cause& cause) {
    return change([&]() -> base::Result<Changed> {
        WHEELYARD_ASSIGN(const Inheritance rules, inheritance());
        const bool would_publish = rules.is_private(index) && !rules.is_private(to_index);
        Changed all{.outcome = ChangeOutcome::already_so};
        for (auto filename = filenames.rbegin(); filename != filenames.rend(); ++filename) {
            WHEELYARD_ASSIGN(Changed one, promote({index, *filename}, to_index, would_publish, cause));
            const bool is_done =
                one.outcome == ChangeOutcome::changed || one.outcome == ChangeOutcome::already_so;
            if (!is_done) {  // the transaction is undone
                one.filename = *filename;
                return one;
            }
            if (all.outcome == ChangeOutcome::already_so)
                all = std::move(one);
            else if (one.outcome == ChangeOutcome::changed)
                all.serial = one.serial;
        }
        return all;
    });
}

base::Result<std::vector<std::string>> Catalog::forget_blobs(const std::vector<std::string>& sha256s,
                                                             const Cause& cause) {
    std::vector<std::string> forgotten;
    WHEELYARD_TRY(in_transaction([&]() -> base::Result<bool> {
        for (const std::string& sha256 : sha256s) {
            WHEELYARD_ASSIGN(const bool is_unknown, forget_blob(sha256));
            if (is_unknown) forgotten.push_back(sha256);
        }
        if (forgotten.empty()) return false;
        Event about;
        about.details_json = io::Json::object({{"format", "wheelyard.blobs-collected/1"},
                                               {"sha256", io::Json::array_of(forgotten)}})
                                 .render();
        WHEELYARD_TRY(record(EventKind::blobs_collected, std::move(about), cause));
        return true;
    }));
    return forgotten;
}

base::Status Catalog::add_token(const TokenRow& row) {
    return in_transaction([&]() -> base::Result<bool> {
        WHEELYARD_TRY(insert_token(row));
        return true;
    });
}

base::Result<bool> Catalog::revoke_token(std::string_view id, const Cause& cause) {
    bool is_known = false;
    WHEELYARD_TRY(in_transaction([&]() -> base::Result<bool> {
        WHEELYARD_ASSIGN(const auto all, tokens());
        for (const TokenRow& token : all) {
            if (token.id != id) continue;
            is_known = true;
            if (token.revoked) return false;
            WHEELYARD_TRY(mark_revoked(id, cause));
            return true;
        }
        return false;
    }));
    return is_known;
}

base::Status Catalog::replace_tokens(const EditTokens& edit) {
    return in_transaction([&]() -> base::Result<bool> {
        WHEELYARD_ASSIGN(const auto rows, tokens());
        const TokenChange change = edit(rows);
        for (const std::string& id : change.revoked)
            WHEELYARD_TRY(mark_revoked(id, change.cause));
        for (const TokenRow& row : change.added)
            WHEELYARD_TRY(insert_token(row));
        return !change.revoked.empty() || !change.added.empty();
    });
}

base::Status Catalog::drop_tokens(const std::vector<std::string>& ids) {
    return in_transaction([&]() -> base::Result<bool> {
        for (const std::string& id : ids)
            WHEELYARD_TRY(delete_token(id));
        return !ids.empty();
    });
}

}  // namespace wheelyard::catalog
