// Changes to existing files and projects. Each is one transaction with the row and its event, so that log and
// state always agree.
#include <utility>

#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/catalog/catalog_state.hpp"

namespace wheelyard::catalog {
namespace {

// Every column that refers to a blob. New references must be added here: gc relies on it.
constexpr std::string_view is_referenced =
    "(EXISTS (SELECT 1 FROM file WHERE file.sha256 = blob.sha256) OR "
    "EXISTS (SELECT 1 FROM file WHERE file.metadata_sha256 = blob.sha256) OR "
    "EXISTS (SELECT 1 FROM file WHERE file.provenance_sha256 = blob.sha256))";

base::Result<Serial> newest_serial(const Database& database) {
    return database.integer("SELECT coalesce(max(serial), 0) FROM event");
}

// Nothing to change. The caller still waits for the newest serial: an earlier run may not be published yet.
base::Result<Changed> already_so(const Database& database, std::string project) {
    WHEELYARD_ASSIGN(const Serial serial, newest_serial(database));
    return Changed{.outcome = ChangeOutcome::already_so,
                   .serial = serial,
                   .project = std::move(project),
                   .value_there = {}};
}

Changed refused(ChangeOutcome outcome, std::string project = {}, std::string value_there = {}) {
    return Changed{.outcome = outcome,
                   .serial = 0,
                   .project = std::move(project),
                   .value_there = std::move(value_there)};
}

base::Result<Changed> commit(Transaction& transaction, Serial serial, std::string project) {
    WHEELYARD_TRY(transaction.commit());
    return Changed{.outcome = ChangeOutcome::changed,
                   .serial = serial,
                   .project = std::move(project),
                   .value_there = {}};
}

// Writes the mutable columns of `row`, and the event.
base::Result<Changed> update_file(const Database& database, Transaction& transaction, EventKind kind,
                                  const FileRow& row, const Cause& cause) {
    WHEELYARD_TRY(
        database.run("UPDATE file SET yanked = ?, yanked_reason = ?, state = ?, state_reason = ?, "
                     "pinned = ? WHERE index_name = ? AND filename = ?",
                     std::int64_t{row.yanked}, row.yanked_reason, file_state_text(row.state),
                     row.state_reason, std::int64_t{row.pinned}, row.index, row.filename));
    WHEELYARD_ASSIGN(const Serial serial, append_event(database, kind, row, cause));
    return commit(transaction, serial, row.project);
}

base::Status note_unreferenced(const Database& database, std::string_view sha256, base::UnixMicros time) {
    return database.run(
        "UPDATE blob SET unreferenced_since = ? WHERE sha256 = ? AND NOT " + std::string(is_referenced), time,
        sha256);
}

enum class MayReturn { no, yes };

// The row becomes a tombstone.
base::Result<Changed> remove_row(const Database& database, Transaction& transaction, const FileRow& row,
                                 MayReturn may_return, const Cause& cause) {
    WHEELYARD_TRY(database.run(
        "INSERT INTO tombstone (index_name, filename, sha256, time, may_return) VALUES (?, ?, ?, ?, ?)",
        row.index, row.filename, row.sha256, cause.time, std::int64_t{may_return == MayReturn::yes}));
    WHEELYARD_TRY(
        database.run("DELETE FROM file WHERE index_name = ? AND filename = ?", row.index, row.filename));
    WHEELYARD_TRY(note_unreferenced(database, row.sha256, cause.time));
    WHEELYARD_TRY(note_unreferenced(database, row.metadata_sha256, cause.time));
    WHEELYARD_TRY(note_unreferenced(database, row.provenance_sha256, cause.time));
    WHEELYARD_ASSIGN(const Serial serial, append_event(database, EventKind::file_deleted, row, cause));
    return commit(transaction, serial, row.project);
}

// One file of a promotion, in the caller's transaction.
base::Result<Changed> promote_one(const Database& database, const FileName& name, const std::string& to_index,
                                  bool would_publish, const Cause& cause) {
    WHEELYARD_ASSIGN(auto row, find_file(database, name.index, name.filename));
    if (!row) return refused(ChangeOutcome::no_such_file);
    if (would_publish) return refused(ChangeOutcome::would_publish, row->project);
    if (row->state == FileState::quarantined) return refused(ChangeOutcome::quarantined, row->project);
    WHEELYARD_ASSIGN(const auto source, find_project(database, name.index, row->project));
    if (source && source->status == ProjectStatus::quarantined)
        return refused(ChangeOutcome::quarantined, row->project);
    row->index = to_index;
    row->upload_time = cause.time;  // when it came to be there: resolvers cut by this (PEP 700)
    row->pinned = false;            // a pin is one index's
    WHEELYARD_ASSIGN(const auto earlier, find_earlier(database, *row));
    if (earlier) {
        switch (earlier->outcome) {
            case AddOutcome::already_there: {
                WHEELYARD_ASSIGN(const auto there, find_file(database, to_index, name.filename));
                if (there && there->state == FileState::quarantined)
                    return refused(ChangeOutcome::quarantined, row->project);
                return already_so(database, row->project);
            }
            case AddOutcome::name_taken:
                return refused(ChangeOutcome::name_taken, row->project, earlier->sha256_there);
            case AddOutcome::name_was_deleted:
                return refused(ChangeOutcome::name_was_deleted, row->project);
            case AddOutcome::project_closed:
            case AddOutcome::added:
                return refused(ChangeOutcome::project_closed, row->project);
        }
    }
    WHEELYARD_ASSIGN(const Serial serial, append_event(database, EventKind::file_promoted, *row, cause));
    WHEELYARD_TRY(insert_file(database, *row, serial));
    return Changed{.outcome = ChangeOutcome::changed, .serial = serial, .project = row->project};
}

}  // namespace

base::Result<Changed> Catalog::set_yanked(const FileName& name, bool yanked, const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(auto row, find_file(database, name.index, name.filename));
    if (!row) return refused(ChangeOutcome::no_such_file);
    const std::string reason = yanked ? cause.reason : std::string();
    if (row->yanked == yanked && row->yanked_reason == reason) return already_so(database, row->project);
    row->yanked = yanked;
    row->yanked_reason = reason;
    return update_file(database, transaction, yanked ? EventKind::file_yanked : EventKind::file_unyanked,
                       *row, cause);
}

base::Result<Changed> Catalog::set_file_state(const FileName& name, FileState state, const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(auto row, find_file(database, name.index, name.filename));
    if (!row) return refused(ChangeOutcome::no_such_file);
    if (row->state == state) return already_so(database, row->project);
    const bool quarantines = state == FileState::quarantined;
    row->state = state;
    row->state_reason = quarantines ? cause.reason : std::string();
    return update_file(database, transaction,
                       quarantines ? EventKind::file_quarantined : EventKind::file_released, *row, cause);
}

base::Result<Changed> Catalog::set_pinned(const FileName& name, bool pinned, const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(auto row, find_file(database, name.index, name.filename));
    if (!row) return refused(ChangeOutcome::no_such_file);
    if (row->pinned == pinned) return already_so(database, row->project);
    row->pinned = pinned;
    return update_file(database, transaction, pinned ? EventKind::file_pinned : EventKind::file_unpinned,
                       *row, cause);
}

base::Result<Changed> Catalog::delete_file(const FileName& name, const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(const auto row, find_file(database, name.index, name.filename));
    if (!row) {
        WHEELYARD_ASSIGN(const std::int64_t tombstones,
                         database.integer("SELECT count(*) FROM tombstone WHERE index_name = ? AND "
                                          "filename = ? AND may_return = 0",
                                          name.index, name.filename));
        if (tombstones > 0) return already_so(database, {});
        return refused(ChangeOutcome::no_such_file);
    }
    if (row->pinned) return refused(ChangeOutcome::pinned, row->project);
    return remove_row(database, transaction, *row, MayReturn::no, cause);
}

base::Result<Changed> Catalog::give_back(const FileName& name, const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(const auto row, find_file(database, name.index, name.filename));
    if (!row) return refused(ChangeOutcome::no_such_file);
    if (row->pinned) return refused(ChangeOutcome::pinned, row->project);
    if (row->state == FileState::quarantined) return refused(ChangeOutcome::quarantined, row->project);
    return remove_row(database, transaction, *row, MayReturn::yes, cause);
}

base::Result<std::vector<std::string>> Catalog::given_back_blobs() const {
    WHEELYARD_ASSIGN(auto query, state_->database.prepare(
                                     "SELECT DISTINCT blob.sha256 FROM tombstone JOIN blob ON blob.sha256 = "
                                     "tombstone.sha256 WHERE may_return = 1 AND unreferenced_since > 0"));
    return collect(query, [](const Statement& row) { return row.text(0); });
}

base::Result<Changed> Catalog::set_project_status(const ProjectRow& wanted, const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(const auto there, find_project(database, wanted.index, wanted.project));
    if (!there) return refused(ChangeOutcome::no_such_project, wanted.project);
    if (there->status == wanted.status && there->status_reason == wanted.status_reason)
        return already_so(database, wanted.project);
    WHEELYARD_TRY(
        database.run("UPDATE project SET status = ?, status_reason = ? WHERE index_name = ? AND name = ?",
                     project_status_text(wanted.status), wanted.status_reason, wanted.index, wanted.project));
    Event about;
    about.index = wanted.index;
    about.project = wanted.project;
    about.details_json = io::Json::object({{"format", "wheelyard.project-status/1"},
                                           {"status", project_status_text(wanted.status)},
                                           {"reason", wanted.status_reason}})
                             .render();
    WHEELYARD_ASSIGN(const Serial serial,
                     append_event(database, EventKind::project_status_changed, about, cause));
    return commit(transaction, serial, wanted.project);
}

base::Result<Changed> Catalog::promote_files(const std::string& index, std::span<const std::string> filenames,
                                             const std::string& to_index, const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(const Inheritance rules, read_inheritance(database));
    const bool would_publish = rules.is_private(index) && !rules.is_private(to_index);
    Changed all{.outcome = ChangeOutcome::already_so};
    for (auto filename = filenames.rbegin(); filename != filenames.rend(); ++filename) {
        WHEELYARD_ASSIGN(Changed changed,
                         promote_one(database, {index, *filename}, to_index, would_publish, cause));
        const bool is_done =
            changed.outcome == ChangeOutcome::changed || changed.outcome == ChangeOutcome::already_so;
        if (!is_done) {  // the transaction is undone
            changed.filename = *filename;
            return changed;
        }
        if (all.outcome == ChangeOutcome::already_so)
            all = std::move(changed);
        else if (changed.outcome == ChangeOutcome::changed)
            all.serial = changed.serial;
    }
    WHEELYARD_TRY(transaction.commit());
    return all;
}

base::Result<std::vector<std::string>> Catalog::forget_blobs(const std::vector<std::string>& sha256s,
                                                             const Cause& cause) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    std::vector<std::string> forgotten;
    for (const std::string& sha256 : sha256s) {
        WHEELYARD_TRY(
            database.run("DELETE FROM blob WHERE sha256 = ? AND NOT " + std::string(is_referenced), sha256));
        // An orphan has no row to delete; a referenced blob keeps its row.
        WHEELYARD_ASSIGN(const std::int64_t kept,
                         database.integer("SELECT count(*) FROM blob WHERE sha256 = ?", sha256));
        if (kept == 0) forgotten.push_back(sha256);
    }
    if (forgotten.empty()) return forgotten;
    Event about;
    about.details_json = io::Json::object({{"format", "wheelyard.blobs-collected/1"},
                                           {"sha256", io::Json::array_of(forgotten)}})
                             .render();
    WHEELYARD_ASSIGN(const Serial serial, append_event(database, EventKind::blobs_collected, about, cause));
    static_cast<void>(serial);
    WHEELYARD_TRY(transaction.commit());
    return forgotten;
}

base::Result<std::optional<BlobRow>> Catalog::blob(std::string_view sha256) const {
    WHEELYARD_ASSIGN(auto query,
                     state_->database.prepare("SELECT sha256, size_bytes, " + std::string(is_referenced) +
                                                  ", unreferenced_since FROM blob WHERE sha256 = ?",
                                              sha256));
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    return BlobRow{.sha256 = query.text(0),
                   .size_bytes = static_cast<std::uint64_t>(query.integer(1)),
                   .referenced = query.integer(2) != 0,
                   .unreferenced_since = query.integer(3)};
}

base::Result<std::vector<BlobRow>> Catalog::blobs_after(std::string_view sha256, std::size_t limit) const {
    WHEELYARD_ASSIGN(auto query,
                     state_->database.prepare(
                         "SELECT sha256, size_bytes, " + std::string(is_referenced) +
                             ", unreferenced_since FROM blob WHERE sha256 > ? ORDER BY sha256 LIMIT ?",
                         sha256, static_cast<std::int64_t>(limit)));
    return collect(query, [](const Statement& row) {
        return BlobRow{.sha256 = row.text(0),
                       .size_bytes = static_cast<std::uint64_t>(row.integer(1)),
                       .referenced = row.integer(2) != 0,
                       .unreferenced_since = row.integer(3)};
    });
}

base::Result<std::vector<FileRow>> Catalog::files_of_blob(std::string_view sha256) const {
    WHEELYARD_ASSIGN(auto query,
                     state_->database.prepare(select_files("WHERE sha256 = ? OR metadata_sha256 = ? "
                                                           "OR provenance_sha256 = ? "
                                                           "ORDER BY index_name, filename"),
                                              sha256, sha256, sha256));
    return collect(query, file_of);
}

base::Result<std::vector<std::string>> Catalog::faults() const {
    WHEELYARD_ASSIGN(auto integrity, state_->database.prepare("PRAGMA integrity_check"));
    WHEELYARD_ASSIGN(auto faults, collect(integrity, [](const Statement& row) { return row.text(0); }));
    std::erase(faults, "ok");
    WHEELYARD_ASSIGN(auto keys, state_->database.prepare("PRAGMA foreign_key_check"));
    WHEELYARD_ASSIGN(const auto broken, collect(keys, [](const Statement& row) {
                         return "a row of " + row.text(0) + " refers to a row of " + row.text(2) +
                                " that does not exist";
                     }));
    faults.insert(faults.end(), broken.begin(), broken.end());
    WHEELYARD_ASSIGN(
        auto sizes,
        state_->database.prepare("SELECT file.index_name, file.filename FROM file "
                                 "JOIN blob ON blob.sha256 = file.sha256 "
                                 "JOIN blob AS metadata ON metadata.sha256 = file.metadata_sha256 "
                                 "LEFT JOIN blob AS provenance ON provenance.sha256 = file.provenance_sha256 "
                                 "WHERE file.size_bytes <> blob.size_bytes "
                                 "OR file.metadata_size_bytes <> metadata.size_bytes "
                                 "OR file.provenance_size_bytes <> ifnull(provenance.size_bytes, 0)"));
    WHEELYARD_ASSIGN(const auto differing, collect(sizes, [](const Statement& row) {
                         return "the row of " + row.text(1) + " in " + row.text(0) +
                                " has a different size than its blob";
                     }));
    faults.insert(faults.end(), differing.begin(), differing.end());
    return faults;
}

base::Status Catalog::copy_to(const std::filesystem::path& to) const {
    return state_->database.copy_to(to);
}

}  // namespace wheelyard::catalog
