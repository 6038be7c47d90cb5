// The statements that only read.
#pragma once

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/store/catalog/inheritance.hpp"
#include "lib/store/catalog/marks.hpp"
#include "lib/store/catalog/sql/columns.hpp"
#include "lib/store/catalog/sql/sql_catalog.hpp"

namespace wheelyard::catalog {
namespace sql {

// Reuses one Event, because a long log has millions.
template <typename Statement>
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

// SELECT … FROM file … `where`: rows that file_of() reads.
inline std::string select_files(std::string_view where) {
    return "SELECT " + engine::names_to_read(file_columns) + " FROM file " + std::string(where);
}

template <typename Statement>
FileRow file_of(const Statement& query) {
    return engine::row_of<FileRow>(query, file_columns);
}

}  // namespace sql

template <typename Database>
base::Result<std::optional<FileRow>> SqlCatalog<Database>::file(std::string_view index,
                                                                std::string_view filename) const {
    WHEELYARD_ASSIGN(auto query, database_.prepare(sql::select_files("WHERE index_name = ? AND filename = ?"),
                                                   index, filename));
    return engine::first_of(query, [](const auto& row) { return sql::file_of(row); });
}

template <typename Database>
base::Result<std::optional<ProjectRow>> SqlCatalog<Database>::project(std::string_view index,
                                                                      std::string_view name) const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT status, status_reason FROM project WHERE "
                                                   "index_name = ? AND name = ?",
                                                   index, name));
    return engine::first_of(query, [&](const auto& row) {
        return ProjectRow{.index = std::string(index),
                          .project = std::string(name),
                          .status = parse_project_status(row.view(0)).value_or(ProjectStatus::quarantined),
                          .status_reason = row.text(1)};
    });
}

template <typename Database>
base::Result<std::vector<FileRow>> SqlCatalog<Database>::marks(std::string_view index,
                                                               std::string_view project) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare("SELECT name, yanked, yanked_reason, state, state_reason FROM "
                                       "upstream_mark WHERE index_name = ? AND project = ? ORDER BY name",
                                       index, project));
    return engine::collect(query, [&](const auto& row) {
        FileRow mark = mark_named({std::string(index), row.text(0)});
        mark.yanked = row.integer(1) != 0;
        mark.yanked_reason = row.text(2);
        mark.state = parse_file_state(row.view(3)).value_or(FileState::quarantined);
        mark.state_reason = row.text(4);
        return mark;
    });
}

template <typename Database>
base::Result<std::size_t> SqlCatalog<Database>::count_marks(std::string_view index) const {
    WHEELYARD_ASSIGN(const std::int64_t count,
                     database_.integer("SELECT count(*) FROM upstream_mark WHERE index_name = ?", index));
    return static_cast<std::size_t>(count);
}

template <typename Database>
base::Result<std::vector<Usage>> SqlCatalog<Database>::usage(std::string_view index) const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT uploaded_by, count(*), sum(size_bytes) FROM file "
                                                   "WHERE index_name = ? GROUP BY uploaded_by",
                                                   index));
    return engine::collect(query, [](const auto& row) {
        return Usage{.uploaded_by = row.text(0),
                     .files = static_cast<std::uint64_t>(row.integer(1)),
                     .bytes = static_cast<std::uint64_t>(row.integer(2))};
    });
}

template <typename Database>
base::Result<std::vector<ProjectUsage>> SqlCatalog<Database>::top_projects(std::string_view index,
                                                                           std::size_t limit) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare("SELECT project, count(*), sum(size_bytes) AS bytes, max(upload_time) "
                                       "FROM file WHERE index_name = ? GROUP BY project "
                                       "ORDER BY bytes DESC, project LIMIT ?",
                                       index, static_cast<std::int64_t>(limit)));
    return engine::collect(query, [](const auto& row) {
        return ProjectUsage{.project = row.text(0),
                            .files = static_cast<std::uint64_t>(row.integer(1)),
                            .bytes = static_cast<std::uint64_t>(row.integer(2)),
                            .newest = row.integer(3)};
    });
}

template <typename Database>
base::Result<Usage> SqlCatalog<Database>::quarantine_usage(std::string_view index) const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT count(*), coalesce(sum(size_bytes), 0) FROM file "
                                                   "WHERE index_name = ? AND state = 'quarantined'",
                                                   index));
    WHEELYARD_ASSIGN(const auto rows, engine::collect(query, [](const auto& row) {
                         return Usage{.uploaded_by = {},
                                      .files = static_cast<std::uint64_t>(row.integer(0)),
                                      .bytes = static_cast<std::uint64_t>(row.integer(1))};
                     }));
    return rows.front();
}

template <typename Database>
base::Result<std::vector<DayUsage>> SqlCatalog<Database>::usage_by_day(std::string_view index,
                                                                       base::UnixMicros since) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare("SELECT upload_time / 86400000000 AS day, count(*), sum(size_bytes) "
                                       "FROM file WHERE index_name = ? AND upload_time >= ? GROUP BY "
                                       "upload_time / 86400000000 ORDER BY day",
                                       index, since));
    return engine::collect(query, [](const auto& row) {
        return DayUsage{.day = row.integer(0),
                        .files = static_cast<std::uint64_t>(row.integer(1)),
                        .bytes = static_cast<std::uint64_t>(row.integer(2))};
    });
}

template <typename Database>
base::Result<Serial> SqlCatalog<Database>::last_serial() const {
    return database_.integer("SELECT coalesce(max(serial), 0) FROM event");
}

namespace sql {

template <typename Database>
auto select_events(const Database& database, Serial after, std::size_t limit, EventParts parts) {
    const std::string_view rest = parts == EventParts::all
                                      ? "details_json, actor, reason"
                                      : "CASE kind WHEN 'file_deleted' THEN details_json ELSE '' END";
    return database.prepare("SELECT serial, kind, time, index_name, project, filename, " + std::string(rest) +
                                " FROM event WHERE serial > ? ORDER BY serial LIMIT ?",
                            after, static_cast<std::int64_t>(limit));
}

template <typename Query>
base::Result<std::vector<Event>> read_events(Query& query) {
    std::vector<Event> events;
    while (true) {
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return events;
        WHEELYARD_TRY(read_event(query, EventParts::all, events.emplace_back()));
    }
}

}  // namespace sql

template <typename Database>
base::Result<std::vector<Event>> SqlCatalog<Database>::events_after(Serial serial, std::size_t limit) const {
    WHEELYARD_ASSIGN(auto query, sql::select_events(database_, serial, limit, EventParts::all));
    return sql::read_events(query);
}

namespace sql {

// For LIKE … ESCAPE '!': texts with this part, in any case.
inline std::string pattern_of(std::string_view part) {
    std::string pattern = "%";
    for (const char c : base::ascii_lower(part)) {
        if (c == '%' || c == '_' || c == '!') pattern += '!';
        pattern += c;
    }
    return pattern + "%";
}

}  // namespace sql

template <typename Database>
base::Result<std::vector<Event>> SqlCatalog<Database>::find_events(const EventFilter& filter,
                                                                   const EventRange& range) const {
    const std::string what = sql::pattern_of(filter.what);
    // The actor is last: it lies behind the details, which are long.
    WHEELYARD_ASSIGN(
        auto query,
        database_.prepare(
            "SELECT serial, kind, time, index_name, project, filename, '', actor, reason FROM event WHERE "
            "serial > ? AND serial < ? AND time >= ? AND time < ? AND (? = '' OR index_name = ?) AND "
            "(? = '' OR project = ?) AND (? = '' OR filename = ?) AND lower(kind) LIKE ? ESCAPE '!' AND "
            "(lower(project) LIKE ? ESCAPE '!' OR lower(filename) LIKE ? ESCAPE '!') AND "
            "(? = '' OR lower(actor) LIKE ? ESCAPE '!' OR replace(?, ' ' || actor || ' ', '') <> ?) ORDER BY "
            "serial " +
                std::string(range.is_newest ? "DESC" : "ASC") + " LIMIT ?",
            range.after, range.before, filter.from, filter.until, filter.index, filter.index, filter.project,
            filter.project, filter.filename, filter.filename, sql::pattern_of(filter.kind), what, what,
            filter.who, sql::pattern_of(filter.who), filter.people, filter.people,
            static_cast<std::int64_t>(range.limit)));
    WHEELYARD_ASSIGN(std::vector<Event> events, sql::read_events(query));
    if (range.is_newest) std::reverse(events.begin(), events.end());
    return events;
}

template <typename Database>
base::Status SqlCatalog<Database>::for_each_event(Serial after, Serial until,
                                                  const std::function<base::Status(Event&)>& see,
                                                  EventParts parts) const {
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
        WHEELYARD_ASSIGN(auto query, sql::select_events(database_, after, events_at_once, parts));
        for (count = 0;; ++count) {
            WHEELYARD_ASSIGN(const bool row, query.step());
            if (!row) break;
            WHEELYARD_TRY(sql::read_event(query, parts, event));
            if (event.serial > until) return {};
            after = event.serial;
            WHEELYARD_TRY(see(event));
        }
    }
    return {};
}

template <typename Database>
base::Result<std::vector<std::string>> SqlCatalog<Database>::projects(std::string_view index) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare("SELECT name FROM project WHERE index_name = ? ORDER BY name", index));
    return engine::collect(query, [](const auto& row) { return row.text(0); });
}

template <typename Database>
base::Result<std::vector<FileRow>> SqlCatalog<Database>::files(std::string_view index,
                                                               std::string_view project) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare(
                         sql::select_files("WHERE index_name = ? AND project = ? ORDER BY version, filename"),
                         index, project));
    return engine::collect(query, [](const auto& row) { return sql::file_of(row); });
}

template <typename Database>
base::Result<std::vector<FileRow>> SqlCatalog<Database>::files_after(std::string_view index,
                                                                     std::string_view filename,
                                                                     std::size_t limit,
                                                                     const FilesWanted& wanted) const {
    const std::string_view state = wanted.state ? file_state_text(*wanted.state) : std::string_view();
    const std::string part =
        sql::pattern_of(base::replace_all(base::replace_all(wanted.name_part, "-", "_"), ".", "_"));
    WHEELYARD_ASSIGN(
        auto query,
        database_.prepare(
            sql::select_files(
                "WHERE index_name = ? AND filename > ? AND (? = '' OR state = ?) AND (? = '' OR "
                "replace(replace(lower(filename), '-', '_'), '.', '_') LIKE ? ESCAPE '!') ORDER BY filename "
                "LIMIT ?"),
            index, filename, state, state, wanted.name_part, part, static_cast<std::int64_t>(limit)));
    return engine::collect(query, [](const auto& row) { return sql::file_of(row); });
}

namespace sql {

// `begin` and "(?, ?, ?, ?)" for the names, the last of which is repeated up to a power of two: so an engine
// that keeps statements by their text has few of these. `values`: the index, then the names.
template <typename Database>
auto prepare_for_names(const Database& database, std::string_view begin, std::vector<std::string> values) {
    const std::size_t places = std::bit_ceil(values.size() - 1);
    values.resize(1 + places, std::string(values.back()));
    std::string sql(begin);
    for (std::size_t place = 0; place < places; ++place)
        sql += place == 0 ? "(?" : ", ?";
    return database.prepare_list(sql + ")", values);
}

// The files of one page while they are read.
struct PageBeingRead {
    std::vector<FileRow>* files;
    std::vector<Serial> added = {};  // of each

    void end(Serial up_to) {
        files->resize(added.size());
        const auto is_later = [&](Serial serial) { return serial > up_to; };
        if (std::none_of(added.begin(), added.end(), is_later) ||
            std::all_of(added.begin(), added.end(), is_later))
            return;
        std::size_t at = 0;
        std::erase_if(*files, [&](const FileRow&) { return is_later(added[at++]); });
    }
};

}  // namespace sql

template <typename Database>
base::Result<std::vector<ProjectHead>> SqlCatalog<Database>::project_heads(
    const std::string& index, std::span<const std::string> names) const {
    if (names.empty()) return std::vector<ProjectHead>();
    std::vector<std::string> values{index};
    values.insert(values.end(), names.begin(), names.end());
    constexpr std::string_view begin =
        "SELECT name, status, status_reason, (SELECT count(*) FROM file WHERE file.index_name = "
        "project.index_name AND file.project = project.name) FROM project WHERE index_name = ? AND name IN ";
    WHEELYARD_ASSIGN(auto query, sql::prepare_for_names(database_, begin, std::move(values)));
    return engine::collect(query, [&](const auto& row) {
        return ProjectHead{
            .row = {.index = index,
                    .project = row.text(0),
                    .status = parse_project_status(row.view(1)).value_or(ProjectStatus::quarantined),
                    .status_reason = row.text(2)},
            .files = static_cast<std::size_t>(row.integer(3))};
    });
}

template <typename Database>
base::Status SqlCatalog<Database>::read_files_of_pages(const std::string& index,
                                                       std::span<const PageFiles> pages, Serial up_to) const {
    if (pages.empty()) return {};
    std::vector<std::string> values{index};
    std::unordered_map<std::string_view, sql::PageBeingRead> read;
    for (const PageFiles& page : pages) {
        values.push_back(page.project);
        read.try_emplace(page.project, sql::PageBeingRead{page.files});
    }
    static const std::string begin = "SELECT project, added_serial, " +
                                     engine::names_to_read(sql::file_columns, sql::Shown::in_page) +
                                     " FROM file WHERE index_name = ? AND project IN ";
    WHEELYARD_ASSIGN(auto query, sql::prepare_for_names(database_, begin, std::move(values)));
    auto page = read.end();
    while (true) {
        WHEELYARD_ASSIGN(const bool is_row, query.step());
        if (!is_row) break;
        if (page == read.end() || page->first != query.view(0)) page = read.find(query.view(0));
        if (page == read.end()) continue;
        auto& [files, added] = page->second;
        if (added.size() == files->size()) files->emplace_back();
        FileRow& row = (*files)[added.size()];
        added.push_back(query.integer(1));
        row.index = index;
        row.project = page->first;
        engine::read_row(query, sql::file_columns, row, 2, sql::Shown::in_page);
        row.uploaded_by.clear();
        row.state_reason.clear();
        row.pinned = false;
        keep_offered_metadata(row);
    }
    for (auto& [project, files] : read)
        files.end(up_to);
    return {};
}

template <typename Database>
base::Result<std::vector<std::string>> SqlCatalog<Database>::indexes() const {
    // From each name to the next by the primary key: DISTINCT reads the row of every project.
    WHEELYARD_ASSIGN(
        auto query,
        database_.prepare(
            "WITH RECURSIVE known (name) AS (SELECT min(index_name) FROM project UNION ALL SELECT "
            "(SELECT min(index_name) FROM project WHERE index_name > known.name) FROM known WHERE "
            "known.name IS NOT NULL) SELECT name FROM known WHERE name IS NOT NULL ORDER BY name"));
    return engine::collect(query, [](const auto& row) { return row.text(0); });
}

template <typename Database>
base::Result<std::vector<TokenRow>> SqlCatalog<Database>::tokens() const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT " + engine::names_to_read(sql::token_columns) +
                                                   " FROM token ORDER BY created, id"));
    return engine::collect(query,
                           [](const auto& row) { return engine::row_of<TokenRow>(row, sql::token_columns); });
}

template <typename Database>
base::Result<std::vector<std::string>> SqlCatalog<Database>::evicted_blobs() const {
    WHEELYARD_ASSIGN(
        auto query, database_.prepare("SELECT DISTINCT blob.sha256 FROM tombstone JOIN blob ON blob.sha256 = "
                                      "tombstone.sha256 WHERE may_return = 1 AND unreferenced_since > 0"));
    return engine::collect(query, [](const auto& row) { return row.text(0); });
}

namespace sql {
inline constexpr auto blob_of = [](const auto& row) {
    return BlobRow{.sha256 = row.text(0),
                   .size_bytes = static_cast<std::uint64_t>(row.integer(1)),
                   .referenced = row.integer(2) != 0,
                   .unreferenced_since = row.integer(3)};
};
}  // namespace sql

template <typename Database>
base::Result<std::optional<BlobRow>> SqlCatalog<Database>::blob(std::string_view sha256) const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT sha256, size_bytes, " + sql::is_referenced() +
                                                       ", unreferenced_since FROM blob WHERE sha256 = ?",
                                                   sha256));
    return engine::first_of(query, sql::blob_of);
}

template <typename Database>
base::Result<std::vector<BlobRow>> SqlCatalog<Database>::blobs_after(std::string_view sha256,
                                                                     std::size_t limit) const {
    WHEELYARD_ASSIGN(
        auto query,
        database_.prepare("SELECT sha256, size_bytes, " + sql::is_referenced() +
                              ", unreferenced_since FROM blob WHERE sha256 > ? ORDER BY sha256 LIMIT ?",
                          sha256, static_cast<std::int64_t>(limit)));
    return engine::collect(query, sql::blob_of);
}

template <typename Database>
base::Result<std::vector<FileRow>> SqlCatalog<Database>::files_of_blob(std::string_view sha256) const {
    std::string where;
    for (const auto& blob : sql::blobs_of_file)
        where += (where.empty() ? "WHERE " : " OR ") + std::string(blob.sha256_column) + " = ?";
    const std::vector<std::string> each(sql::blobs_of_file.size(), std::string(sha256));
    WHEELYARD_ASSIGN(auto query, database_.prepare_list(
                                     sql::select_files(where + " ORDER BY index_name, filename"), each));
    return engine::collect(query, [](const auto& row) { return sql::file_of(row); });
}

template <typename Database>
base::Result<std::vector<std::string>> SqlCatalog<Database>::faults_of_rows() const {
    std::string joined;
    std::string differs;
    for (const auto& [sha256, of_sha256, size, of_size] : sql::blobs_of_file) {
        const std::string blob = "blob_of_" + std::string(sha256);
        joined += " LEFT JOIN blob AS " + blob + " ON " + blob + ".sha256 = file." + std::string(sha256);
        // A row that is gone is a fault of another kind.
        differs += (differs.empty() ? "file." : " OR file.") + std::string(size) + " <> " + blob +
                   ".size_bytes OR file." + std::string(sha256) + " IS NULL AND file." + std::string(size) +
                   " <> 0";
    }
    WHEELYARD_ASSIGN(auto sizes, database_.prepare("SELECT file.index_name, file.filename FROM file" +
                                                   joined + " WHERE " + differs));
    WHEELYARD_ASSIGN(auto differing, engine::collect(sizes, [](const auto& row) {
                         return "the row of " + row.text(1) + " in " + row.text(0) +
                                " has a different size than its blob";
                     }));
    return differing;
}

template <typename Database>
base::Result<std::int64_t> SqlCatalog<Database>::change_count() const {
    return database_.integer("SELECT count FROM change_count");
}

// Reads only the names with this first letter, in either case: the index is ordered by name.
template <typename Database>
base::Result<std::vector<std::string>> SqlCatalog<Database>::deleted_names(std::string_view index,
                                                                           std::string_view begin) const {
    const std::string lower = base::ascii_lower(begin.substr(0, 1));
    std::string upper = lower;
    for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const auto after = [](std::string first) {
        for (char& c : first)
            ++c;
        return first;
    };
    WHEELYARD_ASSIGN(
        auto query,
        database_.prepare("SELECT filename FROM tombstone WHERE index_name = ? AND (filename >= ? AND "
                          "filename < ? OR filename >= ? AND filename < ?) AND may_return = 0 AND "
                          "lower(substr(filename, 1, ?)) = ?",
                          index, lower, after(lower), upper, after(upper),
                          static_cast<std::int64_t>(begin.size()), begin));
    return engine::collect(query, [](const auto& row) { return row.text(0); });
}

// The index file_by_version has the same expression.
template <typename Database>
base::Result<std::vector<std::string>> SqlCatalog<Database>::filenames_of_version(
    std::string_view index, std::string_view project, std::string_view version) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare("SELECT filename FROM file WHERE index_name = ? AND project = ? "
                                       "AND replace(version, '.0', '') = replace(?, '.0', '')",
                                       index, project, version));
    return engine::collect(query, [](const auto& row) { return row.text(0); });
}

template <typename Database>
base::Result<bool> SqlCatalog<Database>::has_project(std::string_view index, std::string_view name) const {
    WHEELYARD_ASSIGN(
        const std::int64_t count,
        database_.integer("SELECT count(*) FROM project WHERE index_name = ? AND name = ?", index, name));
    return count > 0;
}

template <typename Database>
base::Result<std::optional<Catalog::NameHolder>> SqlCatalog<Database>::name_holder(
    std::string_view index, std::string_view filename) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare("SELECT sha256, added_serial FROM file WHERE index_name = ? "
                                       "AND filename = ?",
                                       index, filename));
    return engine::first_of(query, [](const auto& row) { return NameHolder{row.text(0), row.integer(1)}; });
}

template <typename Database>
base::Result<std::optional<Catalog::Tombstone>> SqlCatalog<Database>::tombstone(
    std::string_view index, std::string_view filename) const {
    WHEELYARD_ASSIGN(auto query,
                     database_.prepare("SELECT sha256, may_return FROM tombstone WHERE index_name "
                                       "= ? AND filename = ?",
                                       index, filename));
    return engine::first_of(query, [](const auto& row) {
        return Tombstone{row.text(0), row.integer(1) != 0};
    });
}

template <typename Database>
base::Result<std::vector<IndexRule>> SqlCatalog<Database>::index_rules() const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT index_name, rule_json FROM index_rule"));
    std::vector<IndexRule> rules;
    while (true) {
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return rules;
        WHEELYARD_ASSIGN(auto rule, parse_index_rule(query.text(0), query.view(1)));
        rules.push_back(std::move(rule));
    }
}

template <typename Database>
base::Result<std::string> SqlCatalog<Database>::index_list() const {
    return read_list(database_);
}

template <typename Database>
base::Result<std::string> SqlCatalog<Database>::registry_id() const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT id FROM registry"));
    WHEELYARD_ASSIGN(const bool row, query.step());
    return row ? query.text(0) : std::string();
}

}  // namespace wheelyard::catalog
