// The statements that change rows. Each runs in the transaction of the change that needs it.
#pragma once

#include "lib/store/catalog/inheritance.hpp"
#include "lib/store/catalog/sql/columns.hpp"
#include "lib/store/catalog/sql/sql_catalog.hpp"

namespace wheelyard::catalog {
namespace sql {

template <typename Database>
base::Status add_blob(const Database& database, std::string_view sha256, std::uint64_t size_bytes) {
    return database.run_later(
        "INSERT INTO blob (sha256, size_bytes) VALUES (?, ?) ON CONFLICT (sha256) DO UPDATE SET "
        "unreferenced_since = 0",
        sha256, static_cast<std::int64_t>(size_bytes));
}

}  // namespace sql

template <typename Database>
base::Status SqlCatalog<Database>::count_change() {
    return database_.run_later("UPDATE change_count SET count = count + 1");
}

template <typename Database>
base::Result<Serial> SqlCatalog<Database>::append_event(const Event& event) {
    return database_.integer(
        "INSERT INTO event (kind, time, index_name, project, filename, details_json, actor, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING serial",
        event_kind_text(event.kind), event.time, event.index, event.project, event.filename,
        event.details_json, event.actor, event.reason);
}

template <typename Database>
base::Status SqlCatalog<Database>::insert_file(const FileRow& row, Serial added) {
    for (const auto& blob : sql::blobs_of_file) {
        if (!(row.*blob.sha256).empty())
            WHEELYARD_TRY(sql::add_blob(database_, row.*blob.sha256, row.*blob.size_bytes));
    }
    WHEELYARD_TRY(
        database_.run_later("INSERT INTO project (index_name, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                            row.index, row.project));
    WHEELYARD_TRY(database_.run_later("DELETE FROM tombstone WHERE index_name = ? AND filename = ?",
                                      row.index, row.filename));
    return engine::insert_row(database_, "file", sql::file_columns, row, {}, "added_serial", added);
}

template <typename Database>
base::Status SqlCatalog<Database>::update_file(const FileRow& row) {
    return database_.run_later(
        "UPDATE file SET yanked = ?, yanked_reason = ?, state = ?, state_reason = ?, "
        "pinned = ? WHERE index_name = ? AND filename = ?",
        std::int64_t{row.yanked}, row.yanked_reason, file_state_text(row.state), row.state_reason,
        std::int64_t{row.pinned}, row.index, row.filename);
}

template <typename Database>
base::Status SqlCatalog<Database>::note_unreferenced(std::string_view sha256, base::UnixMicros time) {
    return database_.run_later(
        "UPDATE blob SET unreferenced_since = ? WHERE sha256 = ? AND NOT " + sql::is_referenced(), time,
        sha256);
}

template <typename Database>
base::Status SqlCatalog<Database>::remove_file(const FileRow& row, bool may_return, base::UnixMicros time) {
    WHEELYARD_TRY(database_.run_later(
        "INSERT INTO tombstone (index_name, filename, sha256, time, may_return) VALUES (?, ?, ?, ?, ?)",
        row.index, row.filename, row.sha256, time, std::int64_t{may_return}));
    WHEELYARD_TRY(database_.run_later("DELETE FROM file WHERE index_name = ? AND filename = ?", row.index,
                                      row.filename));
    for (const auto& blob : sql::blobs_of_file)
        WHEELYARD_TRY(note_unreferenced(row.*blob.sha256, time));
    return {};
}

template <typename Database>
base::Status SqlCatalog<Database>::write_mark(const FileRow& mark) {
    if (!mark.yanked && mark.state == FileState::active)
        return database_.run_later(
            "DELETE FROM upstream_mark WHERE index_name = ? AND project = ? AND name = ?", mark.index,
            mark.project, mark.filename);
    return database_.run_later(
        "INSERT INTO upstream_mark (index_name, project, name, yanked, yanked_reason, state, state_reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (index_name, project, name) DO UPDATE SET yanked = "
        "excluded.yanked, yanked_reason = excluded.yanked_reason, state = excluded.state, state_reason = "
        "excluded.state_reason",
        mark.index, mark.project, mark.filename, std::int64_t{mark.yanked}, mark.yanked_reason,
        file_state_text(mark.state), mark.state_reason);
}

template <typename Database>
base::Status SqlCatalog<Database>::write_project(const ProjectRow& row) {
    return database_.run_later(
        "INSERT INTO project (index_name, name, status, status_reason) VALUES (?, ?, ?, ?) ON CONFLICT "
        "(index_name, name) DO UPDATE SET status = excluded.status, status_reason = excluded.status_reason",
        row.index, row.project, project_status_text(row.status), row.status_reason);
}

template <typename Database>
base::Result<bool> SqlCatalog<Database>::forget_blob(const std::string& sha256) {
    WHEELYARD_TRY(
        database_.run_later("DELETE FROM blob WHERE sha256 = ? AND NOT " + sql::is_referenced(), sha256));
    // An orphan has no row to delete; a referenced blob keeps its row.
    WHEELYARD_ASSIGN(const std::int64_t kept,
                     database_.integer("SELECT count(*) FROM blob WHERE sha256 = ?", sha256));
    return kept == 0;
}

template <typename Database>
base::Status SqlCatalog<Database>::write_rule(const IndexRule& rule) {
    if (is_default(rule))
        return database_.run_later("DELETE FROM index_rule WHERE index_name = ?", rule.index);
    return database_.run_later(
        "INSERT INTO index_rule (index_name, rule_json) VALUES (?, ?) ON CONFLICT (index_name) DO "
        "UPDATE SET rule_json = excluded.rule_json",
        rule.index, render_index_rule(rule));
}

template <typename Database>
base::Status SqlCatalog<Database>::write_index_list(const std::string& list) {
    return database_.run_later(
        "INSERT INTO index_list (only_row, json) VALUES (1, ?) ON CONFLICT (only_row) DO UPDATE SET "
        "json = excluded.json",
        list);
}

template <typename Database>
base::Status SqlCatalog<Database>::write_registry_id(const std::string& id) {
    return database_.run_later("UPDATE registry SET id = ?", id);
}

template <typename Database>
base::Status SqlCatalog<Database>::insert_token(const TokenRow& row) {
    return engine::insert_row(database_, "token", sql::token_columns, row);
}

template <typename Database>
base::Status SqlCatalog<Database>::delete_token(std::string_view id) {
    return database_.run_later("DELETE FROM token WHERE id = ?", id);
}

template <typename Database>
base::Status SqlCatalog<Database>::mark_revoked(std::string_view id, const Cause& cause) {
    return database_.run_later(
        "UPDATE token SET revoked = 1, revoked_by = ?, revoked_at = ? WHERE id = ? AND revoked = 0",
        cause.actor, cause.time, id);
}

}  // namespace wheelyard::catalog
