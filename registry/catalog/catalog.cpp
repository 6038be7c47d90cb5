#include "registry/catalog/catalog.hpp"

#include <utility>

#include "lib/io/json.hpp"
#include "registry/catalog/catalog_state.hpp"
#include "registry/catalog/file_row.hpp"
#include "registry/catalog/schema.hpp"
#include "registry/catalog/sqlite.hpp"

namespace wheelyard::catalog {
namespace {

std::string render_list(const std::vector<std::string>& items) {
    return io::Json::array_of(items).render();
}

// A damaged list yields a token without rights, which is the safe interpretation.
std::vector<std::string> parse_list(std::string_view json) {
    return io::parse_json(json).value_or(io::Json()).texts();
}

TokenRow token_of(const Statement& query) {
    return TokenRow{.id = query.text(0),
                    .secret_sha256 = query.text(1),
                    .name = query.text(2),
                    .indexes = parse_list(query.view(3)),
                    .projects = parse_list(query.view(4)),
                    .actions = parse_list(query.view(5)),
                    .created = query.integer(6),
                    .expires = query.integer(7),
                    .revoked = query.integer(8) != 0,
                    .created_by = query.text(9),
                    .revoked_by = query.text(10),
                    .revoked_at = query.integer(11)};
}

base::Status add_blob(const Database& database, std::string_view sha256, std::uint64_t size_bytes) {
    return database.run(
        "INSERT INTO blob (sha256, size_bytes) VALUES (?, ?) ON CONFLICT DO UPDATE SET unreferenced_since = "
        "0",
        sha256, static_cast<std::int64_t>(size_bytes));
}

// Reuses one Event, because a long log has millions.
base::Status read_event(const Statement& query, EventParts parts, Event& event) {
    const auto kind = parse_event_kind(query.view(1));
    if (!kind)
        return base::fail("catalog.unknown_event", "The event log contains an unknown kind of event",
                          query.text(1), "upgrade this program");
    const bool is_all = parts == EventParts::all;
    event.serial = query.integer(0);
    event.kind = *kind;
    event.time = query.integer(2);
    event.index = query.view(3);
    event.project = query.view(4);
    event.filename = query.view(5);
    event.details_json = is_all || *kind == EventKind::file_deleted ? query.view(6) : std::string_view();
    event.actor = is_all ? query.view(7) : std::string_view();
    event.reason = is_all ? query.view(8) : std::string_view();
    return {};
}

constexpr std::string_view file_columns =
    "index_name, project, filename, version, sha256, size_bytes, metadata_sha256, metadata_size_bytes, "
    "requires_python, upload_time, uploaded_by, yanked, yanked_reason, facts_json, state, state_reason, "
    "pinned, metadata_name, ifnull(provenance_sha256, ''), provenance_size_bytes";

// The schema permits no other value; if there is one, hiding the file is safe.
FileState state_of(std::string_view text) {
    return parse_file_state(text).value_or(FileState::quarantined);
}

}  // namespace

std::string select_files(std::string_view where) {
    return "SELECT " + std::string(file_columns) + " FROM file " + std::string(where);
}

FileRow file_of(const Statement& query) {
    return FileRow{.index = query.text(0),
                   .project = query.text(1),
                   .filename = query.text(2),
                   .version = query.text(3),
                   .sha256 = query.text(4),
                   .size_bytes = static_cast<std::uint64_t>(query.integer(5)),
                   .metadata_sha256 = query.text(6),
                   .metadata_size_bytes = static_cast<std::uint64_t>(query.integer(7)),
                   .requires_python = query.text(8),
                   .upload_time = query.integer(9),
                   .uploaded_by = query.text(10),
                   .yanked = query.integer(11) != 0,
                   .yanked_reason = query.text(12),
                   .facts_json = query.text(13),
                   .state = state_of(query.view(14)),
                   .state_reason = query.text(15),
                   .pinned = query.integer(16) != 0,
                   .metadata_name = query.text(17),
                   .provenance_sha256 = query.text(18),
                   .provenance_size_bytes = static_cast<std::uint64_t>(query.integer(19))};
}

base::Result<std::optional<FileRow>> find_file(const Database& database, std::string_view index,
                                               std::string_view filename) {
    WHEELYARD_ASSIGN(
        auto query, database.prepare(select_files("WHERE index_name = ? AND filename = ?"), index, filename));
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    return file_of(query);
}

base::Result<std::optional<ProjectRow>> find_project(const Database& database, std::string_view index,
                                                     std::string_view name) {
    WHEELYARD_ASSIGN(auto query, database.prepare("SELECT status, status_reason FROM project WHERE "
                                                  "index_name = ? AND name = ?",
                                                  index, name));
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    return ProjectRow{.index = std::string(index),
                      .project = std::string(name),
                      .status = parse_project_status(query.view(0)).value_or(ProjectStatus::quarantined),
                      .status_reason = query.text(1)};
}

namespace {

// An inherited file also keeps its bytes in the inheriting index: otherwise lock files with its hash would
// break.
base::Result<std::optional<Added>> find_inherited(const Database& database, const FileRow& row) {
    WHEELYARD_ASSIGN(const Inheritance inheritance, read_inheritance(database));
    if (!inheritance.inherits(row.index)) return std::nullopt;
    WHEELYARD_ASSIGN(const auto source, find_source(database, inheritance, row.index, row.project));
    if (!source || *source == row.index) return std::nullopt;
    WHEELYARD_ASSIGN(auto inherited, find_file(database, *source, row.filename));
    if (!inherited || inherited->sha256 == row.sha256) return std::nullopt;
    return Added{.outcome = AddOutcome::name_taken,
                 .serial = 0,
                 .sha256_there = std::move(inherited->sha256),
                 .index_there = *source};
}

}  // namespace

base::Result<std::optional<Added>> find_earlier(const Database& database, const FileRow& row) {
    WHEELYARD_ASSIGN(
        auto there,
        database.prepare("SELECT sha256, added_serial FROM file WHERE index_name = ? AND filename = ?",
                         row.index, row.filename));
    WHEELYARD_ASSIGN(const bool exists, there.step());
    if (exists) {
        std::string sha256 = there.text(0);
        if (sha256 == row.sha256)
            return Added{
                .outcome = AddOutcome::already_there, .serial = there.integer(1), .sha256_there = {}};
        return Added{.outcome = AddOutcome::name_taken, .serial = 0, .sha256_there = std::move(sha256)};
    }
    WHEELYARD_ASSIGN(
        auto tombstone,
        database.prepare("SELECT sha256, may_return FROM tombstone WHERE index_name = ? AND filename = ?",
                         row.index, row.filename));
    WHEELYARD_ASSIGN(const bool had_it, tombstone.step());
    if (had_it && tombstone.integer(1) == 0)
        return Added{.outcome = AddOutcome::name_was_deleted, .serial = 0, .sha256_there = {}};
    if (had_it && tombstone.view(0) != row.sha256)
        return Added{.outcome = AddOutcome::name_taken, .serial = 0, .sha256_there = tombstone.text(0)};
    WHEELYARD_ASSIGN(const auto project, find_project(database, row.index, row.project));
    if (project &&
        (project->status == ProjectStatus::archived || project->status == ProjectStatus::quarantined))
        return Added{.outcome = AddOutcome::project_closed, .serial = 0, .sha256_there = {}};
    return find_inherited(database, row);
}

base::Status insert_file(const Database& database, const FileRow& row, Serial serial) {
    WHEELYARD_TRY(add_blob(database, row.sha256, row.size_bytes));
    WHEELYARD_TRY(add_blob(database, row.metadata_sha256, row.metadata_size_bytes));
    if (!row.provenance_sha256.empty())
        WHEELYARD_TRY(add_blob(database, row.provenance_sha256, row.provenance_size_bytes));
    WHEELYARD_TRY(database.run("INSERT INTO project (index_name, name) VALUES (?, ?) ON CONFLICT DO NOTHING",
                               row.index, row.project));
    // A copy that was given back returns: find_earlier() let it pass.
    WHEELYARD_TRY(
        database.run("DELETE FROM tombstone WHERE index_name = ? AND filename = ?", row.index, row.filename));
    return database.run(
        "INSERT INTO file (index_name, project, filename, version, sha256, metadata_sha256, "
        "requires_python, upload_time, uploaded_by, yanked, yanked_reason, facts_json, added_serial, state, "
        "state_reason, pinned, metadata_name, size_bytes, metadata_size_bytes, provenance_sha256, "
        "provenance_size_bytes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?)",
        row.index, row.project, row.filename, row.version, row.sha256, row.metadata_sha256,
        row.requires_python, row.upload_time, row.uploaded_by, std::int64_t{row.yanked}, row.yanked_reason,
        row.facts_json, serial, file_state_text(row.state), row.state_reason, std::int64_t{row.pinned},
        row.metadata_name, static_cast<std::int64_t>(row.size_bytes),
        static_cast<std::int64_t>(row.metadata_size_bytes), row.provenance_sha256,
        static_cast<std::int64_t>(row.provenance_size_bytes));
}

base::Result<Serial> append_event(const Database& database, EventKind kind, const Event& about,
                                  const Cause& cause) {
    WHEELYARD_TRY(database.run(
        "INSERT INTO event (kind, time, index_name, project, filename, details_json, actor, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        event_kind_text(kind), cause.time, about.index, about.project, about.filename, about.details_json,
        cause.actor, cause.reason));
    return database.last_insert_rowid();
}

base::Result<Serial> append_event(const Database& database, EventKind kind, const FileRow& row,
                                  const Cause& cause) {
    Event about;
    about.index = row.index;
    about.project = row.project;
    about.filename = row.filename;
    about.details_json = render_file_row(row);
    return append_event(database, kind, about, cause);
}

Catalog::Catalog(std::unique_ptr<State> state) : state_(std::move(state)) {}
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

base::Result<Catalog> Catalog::open(const std::filesystem::path& file, Mode mode) {
    const bool writes = mode != Mode::read_only;
    WHEELYARD_ASSIGN(Database database,
                     Database::open(file, writes ? Database::Mode::read_write : Database::Mode::read_only));
    if (mode != Mode::alone) WHEELYARD_TRY(database.keep_log());  // before any statement opens the log
    WHEELYARD_TRY(database.run("PRAGMA foreign_keys = ON"));
    if (writes) {
        // WAL: readers never wait for the writer. FULL: a commit is on the disk when it returns (WAL's NORMAL
        // may lose the last).
        WHEELYARD_TRY(
            database.run(mode == Mode::alone ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL"));
        WHEELYARD_TRY(database.run("PRAGMA synchronous = FULL"));
        WHEELYARD_TRY(migrate(database));
    } else {
        WHEELYARD_TRY(check_schema_version(database));
    }
    return Catalog(std::make_unique<State>(std::move(database), mode == Mode::read_write));
}

base::Result<Added> Catalog::add_file(const FileRow& row) {
    WHEELYARD_ASSIGN(const std::vector<Added> added, add_files({&row, 1}));
    return added.front();
}

base::Result<std::vector<Added>> Catalog::add_files(std::span<const FileRow> rows) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    std::vector<Added> all;
    for (const FileRow& row : rows) {
        WHEELYARD_ASSIGN(std::optional<Added> earlier, find_earlier(database, row));
        if (earlier) {
            all.push_back(*std::move(earlier));
            continue;
        }
        // Append the event first: the row refers to its serial.
        WHEELYARD_ASSIGN(const Serial serial,
                         append_event(database, EventKind::file_added, row,
                                      {.actor = row.uploaded_by, .reason = {}, .time = row.upload_time}));
        WHEELYARD_TRY(insert_file(database, row, serial));
        all.push_back({.outcome = AddOutcome::added, .serial = serial, .sha256_there = {}});
    }
    WHEELYARD_TRY(transaction.commit());
    return all;
}

base::Result<std::optional<Added>> Catalog::find_obstacle(const FileRow& row) const {
    return find_earlier(state_->database, row);
}

base::Result<std::vector<Usage>> Catalog::usage(std::string_view index) const {
    WHEELYARD_ASSIGN(auto query,
                     state_->database.prepare("SELECT uploaded_by, count(*), sum(size_bytes) FROM file "
                                              "WHERE index_name = ? GROUP BY uploaded_by",
                                              index));
    return collect(query, [](const Statement& row) {
        return Usage{.uploaded_by = row.text(0),
                     .files = static_cast<std::uint64_t>(row.integer(1)),
                     .bytes = static_cast<std::uint64_t>(row.integer(2))};
    });
}

base::Result<std::vector<ProjectUsage>> Catalog::top_projects(std::string_view index,
                                                              std::size_t limit) const {
    WHEELYARD_ASSIGN(auto query, state_->database.prepare(
                                     "SELECT project, count(*), sum(size_bytes) AS bytes, max(upload_time) "
                                     "FROM file WHERE index_name = ? GROUP BY project "
                                     "ORDER BY bytes DESC, project LIMIT ?",
                                     index, static_cast<std::int64_t>(limit)));
    return collect(query, [](const Statement& row) {
        return ProjectUsage{.project = row.text(0),
                            .files = static_cast<std::uint64_t>(row.integer(1)),
                            .bytes = static_cast<std::uint64_t>(row.integer(2)),
                            .newest = row.integer(3)};
    });
}

base::Result<Usage> Catalog::quarantine_usage(std::string_view index) const {
    WHEELYARD_ASSIGN(auto query,
                     state_->database.prepare("SELECT count(*), coalesce(sum(size_bytes), 0) FROM file "
                                              "WHERE index_name = ? AND state = 'quarantined'",
                                              index));
    WHEELYARD_ASSIGN(const auto rows, collect(query, [](const Statement& row) {
                         return Usage{.uploaded_by = {},
                                      .files = static_cast<std::uint64_t>(row.integer(0)),
                                      .bytes = static_cast<std::uint64_t>(row.integer(1))};
                     }));
    return rows.front();
}

base::Status Catalog::try_write() const {
    return catalog::try_write(state_->database);
}

base::Status Catalog::add_token(const TokenRow& row) {
    return state_->database.run(
        "INSERT INTO token (id, secret_sha256, name, indexes_json, projects_json, actions_json, created, "
        "expires, revoked, created_by, revoked_by, revoked_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.id, row.secret_sha256, row.name, render_list(row.indexes), render_list(row.projects),
        render_list(row.actions), row.created, row.expires, std::int64_t{row.revoked}, row.created_by,
        row.revoked_by, row.revoked_at);
}

base::Result<bool> Catalog::revoke_token(std::string_view id, const Cause& cause) {
    WHEELYARD_TRY(
        state_->database.run("UPDATE token SET revoked = 1, revoked_by = ?, revoked_at = ? "
                             "WHERE id = ? AND revoked = 0",
                             cause.actor, cause.time, id));
    if (state_->database.changes() > 0) return true;
    WHEELYARD_ASSIGN(const std::int64_t known,
                     state_->database.integer("SELECT count(*) FROM token WHERE id = ?", id));
    return known > 0;
}

base::Status Catalog::in_one_snapshot(const std::function<base::Status()>& read) const {
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_read(state_->database));
    WHEELYARD_TRY(read());
    return transaction.commit();
}

base::Result<Serial> Catalog::last_serial() const {
    return state_->database.integer("SELECT coalesce(max(serial), 0) FROM event");
}

namespace {

base::Result<Statement> select_events(const Database& database, Serial after, std::size_t limit,
                                      EventParts parts) {
    const std::string_view rest = parts == EventParts::all
                                      ? "details_json, actor, reason"
                                      : "CASE kind WHEN 'file_deleted' THEN details_json ELSE '' END";
    return database.prepare("SELECT serial, kind, time, index_name, project, filename, " + std::string(rest) +
                                " FROM event WHERE serial > ? ORDER BY serial LIMIT ?",
                            after, static_cast<std::int64_t>(limit));
}

}  // namespace

base::Result<std::vector<Event>> Catalog::events_after(Serial serial, std::size_t limit) const {
    WHEELYARD_ASSIGN(auto query, select_events(state_->database, serial, limit, EventParts::all));
    std::vector<Event> events;
    while (true) {
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return events;
        WHEELYARD_TRY(read_event(query, EventParts::all, events.emplace_back()));
    }
}

base::Status Catalog::for_each_event(Serial after, Serial until,
                                     const std::function<base::Status(Event&)>& see, EventParts parts) const {
    // In batches: a long read transaction prevents SQLite from truncating its write-ahead log.
    constexpr std::size_t events_at_once = 1'000;
    // With all parts, `see` may block on output, so it runs outside a transaction.
    while (parts == EventParts::all && after < until) {
        WHEELYARD_ASSIGN(auto events, events_after(after, events_at_once));
        for (Event& event : events) {
            if (event.serial > until) return {};
            after = event.serial;
            WHEELYARD_TRY(see(event));
        }
        if (events.size() < events_at_once) return {};
    }
    Event event;
    for (std::size_t count = events_at_once; after < until && count == events_at_once;) {
        WHEELYARD_ASSIGN(auto query, select_events(state_->database, after, events_at_once, parts));
        for (count = 0;; ++count) {
            WHEELYARD_ASSIGN(const bool row, query.step());
            if (!row) break;
            WHEELYARD_TRY(read_event(query, parts, event));
            if (event.serial > until) return {};
            after = event.serial;
            WHEELYARD_TRY(see(event));
        }
    }
    return {};
}

base::Result<std::vector<std::string>> Catalog::projects(std::string_view index) const {
    WHEELYARD_ASSIGN(auto query, state_->database.prepare(
                                     "SELECT name FROM project WHERE index_name = ? ORDER BY name", index));
    return collect(query, [](const Statement& row) { return row.text(0); });
}

base::Result<std::vector<FileRow>> Catalog::files(std::string_view index, std::string_view project) const {
    WHEELYARD_ASSIGN(
        auto query,
        state_->database.prepare(
            select_files("WHERE index_name = ? AND project = ? ORDER BY version, filename"), index, project));
    return collect(query, file_of);
}

base::Result<std::vector<FileRow>> Catalog::files_after(std::string_view index, std::string_view filename,
                                                        std::size_t limit,
                                                        std::optional<FileState> state) const {
    const std::string_view wanted = state ? file_state_text(*state) : std::string_view();
    WHEELYARD_ASSIGN(auto query, state_->database.prepare(
                                     select_files("WHERE index_name = ? AND filename > ? AND (? = '' OR "
                                                  "state = ?) ORDER BY filename LIMIT ?"),
                                     index, filename, wanted, wanted, static_cast<std::int64_t>(limit)));
    return collect(query, file_of);
}

base::Status Catalog::read_files_of_page(const std::string& index, const std::string& project,
                                         std::vector<FileRow>& files, Serial up_to) const {
    constexpr std::string_view sql =
        "SELECT filename, version, sha256, size_bytes, metadata_sha256, metadata_size_bytes, "
        "requires_python, upload_time, yanked, yanked_reason, facts_json, state, metadata_name, "
        "ifnull(provenance_sha256, ''), provenance_size_bytes FROM file WHERE index_name = ? AND project = ? "
        "AND "
        "added_serial <= ?";
    WHEELYARD_ASSIGN(auto query, state_->database.prepare(sql, index, project, up_to));
    std::size_t count = 0;
    for (;; ++count) {
        WHEELYARD_ASSIGN(const bool is_row, query.step());
        if (!is_row) break;
        if (count == files.size()) files.emplace_back();
        FileRow& row = files[count];
        row.index = index;
        row.project = project;
        row.filename = query.view(0);
        row.version = query.view(1);
        row.sha256 = query.view(2);
        row.size_bytes = static_cast<std::uint64_t>(query.integer(3));
        row.metadata_sha256 = query.view(4);
        row.metadata_size_bytes = static_cast<std::uint64_t>(query.integer(5));
        row.requires_python = query.view(6);
        row.upload_time = query.integer(7);
        row.uploaded_by.clear();
        row.yanked = query.integer(8) != 0;
        row.yanked_reason = query.view(9);
        row.facts_json = query.view(10);
        row.state = state_of(query.view(11));
        row.state_reason.clear();
        row.pinned = false;
        row.metadata_name = query.view(12);
        row.provenance_sha256 = query.view(13);
        row.provenance_size_bytes = static_cast<std::uint64_t>(query.integer(14));
        keep_offered_metadata(row);
    }
    files.resize(count);
    return {};
}

base::Result<std::optional<FileRow>> Catalog::file(std::string_view index, std::string_view filename) const {
    return find_file(state_->database, index, filename);
}

base::Result<std::optional<ProjectRow>> Catalog::project(std::string_view index,
                                                         std::string_view name) const {
    return find_project(state_->database, index, name);
}

base::Result<std::vector<std::string>> Catalog::indexes() const {
    WHEELYARD_ASSIGN(auto query,
                     state_->database.prepare("SELECT DISTINCT index_name FROM project ORDER BY index_name"));
    return collect(query, [](const Statement& row) { return row.text(0); });
}

base::Result<std::vector<TokenRow>> Catalog::tokens() const {
    WHEELYARD_ASSIGN(
        auto query,
        state_->database.prepare(
            "SELECT id, secret_sha256, name, indexes_json, projects_json, actions_json, created, expires, "
            "revoked, created_by, revoked_by, revoked_at FROM token ORDER BY created, id"));
    return collect(query, token_of);
}

base::Result<std::int64_t> Catalog::data_version() const {
    return state_->database.integer("PRAGMA data_version");
}

}  // namespace wheelyard::catalog
