// Brings the tables of one part of a database to the schema of this program, as
// lib/store/engine/sqlite/sqlite.hpp does.
#include "lib/store/engine/postgres/postgres.hpp"

#include <string>

namespace wheelyard::postgres {
namespace {

constexpr std::int64_t migration_lock = 0x57594d49;  // "WYMI"
constexpr std::int64_t migration_ms = 600'000;       // a step may build an index

tl::unexpected<base::Error> fail_too_new(std::string_view part, std::int64_t version, std::int64_t newest) {
    return base::fail("catalog.too_new",
                      "The database's " + std::string(part) + " was written by a newer program",
                      "schema version " + std::to_string(version),
                      "this program knows versions up to " + std::to_string(newest) + ": upgrade it");
}

// Checks a version that this program does not know.
base::Status check_newer(const Database& database, std::string_view part, std::int64_t version,
                         std::int64_t newest) {
    WHEELYARD_ASSIGN(
        const std::int64_t oldest,
        database.integer("SELECT oldest_program FROM schema_version WHERE part = ?", std::string(part)));
    if (oldest > newest) return fail_too_new(part, version, newest);
    return {};
}

// Rows of lib/store/nodes/postgres/, which any server over this database keeps.
base::Status check_no_node_runs(const Database& database, std::string_view part, std::int64_t version) {
    WHEELYARD_ASSIGN(const std::int64_t has_nodes,
                     database.integer("SELECT to_regclass('node') IS NOT NULL"));
    if (has_nodes == 0) return {};
    WHEELYARD_ASSIGN(auto query,
                     database.prepare("SELECT string_agg(DISTINCT name, ', ' ORDER BY name) FROM node WHERE "
                                      "lease_until > clock_timestamp() HAVING count(*) > 0"));
    WHEELYARD_ASSIGN(const bool is_any, query.step());
    if (!is_any) return {};
    return base::fail(
        "catalog.in_use",
        "Nodes of an older version run, and cannot go on with this version's " + std::string(part),
        query.text(0) + ", schema version " + std::to_string(version),
        "stop all nodes, then start this one; after a kill wait until their leases have ended");
}

// Names are compared byte by byte, and every text is UTF-8.
base::Status check_encoding(const Database& database) {
    WHEELYARD_ASSIGN(auto query, database.prepare("SELECT current_setting('server_encoding')"));
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (row && query.view(0) == "UTF8") return {};
    return base::fail("store.encoding", "The database is not in UTF-8", row ? query.text(0) : std::string(),
                      "create it with: createdb --encoding=UTF8 --template=template0 NAME");
}

}  // namespace

base::Result<std::optional<std::int64_t>> schema_version(const Database& database, std::string_view part) {
    WHEELYARD_ASSIGN(const std::int64_t has_table,
                     database.integer("SELECT to_regclass('schema_version') IS NOT NULL"));
    if (has_table == 0) return std::nullopt;
    WHEELYARD_ASSIGN(auto query, database.prepare("SELECT version FROM schema_version WHERE part = ?", part));
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    return query.integer(0);
}

base::Status migrate(const Database& database, std::string_view part, const Schema& schema) {
    const std::int64_t newest = schema.newest();
    WHEELYARD_ASSIGN(const auto before, schema_version(database, part));
    if (before == newest) return {};
    if (before && *before > newest) return check_newer(database, part, *before, newest);
    WHEELYARD_TRY(check_encoding(database));
    const LongWork patience(database, migration_ms);
    // Read again under the lock: two programs may start at once.
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_locked(database, migration_lock));
    WHEELYARD_TRY(database.run_script(
        "CREATE TABLE IF NOT EXISTS schema_version (part TEXT PRIMARY KEY, version BIGINT NOT NULL);"
        "ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS oldest_program BIGINT NOT NULL DEFAULT 1"));
    WHEELYARD_ASSIGN(const auto there, schema_version(database, part));
    const std::int64_t version = there.value_or(0);
    if (version > newest) return check_newer(database, part, version, newest);
    if (there && version < schema.oldest_program) WHEELYARD_TRY(check_no_node_runs(database, part, version));
    for (const char* step : schema.steps.subspan(static_cast<std::size_t>(version)))
        WHEELYARD_TRY(database.run_script(step));
    WHEELYARD_TRY(database.run(
        "INSERT INTO schema_version (part, version, oldest_program) VALUES (?, ?, ?) ON CONFLICT "
        "(part) DO UPDATE SET version = excluded.version, oldest_program = "
        "excluded.oldest_program",
        part, newest, schema.oldest_program));
    return transaction.commit();
}

base::Status check_schema_version(const Database& database, std::string_view part, const Schema& schema) {
    WHEELYARD_ASSIGN(const auto version, schema_version(database, part));
    if (!version)
        return base::fail("catalog.missing", "The database has no " + std::string(part), {},
                          "start wheelyard-registry serve once, or check the database's name");
    if (*version > schema.newest()) return check_newer(database, part, *version, schema.newest());
    if (*version == schema.newest()) return {};
    return base::fail("catalog.too_old", "The catalog has an older schema than this program reads",
                      "schema version " + std::to_string(*version),
                      "start wheelyard-registry once: it migrates the catalog");
}

base::Status try_write(const Database& database, std::string_view part, std::int64_t lock) {
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_locked(database, lock));
    WHEELYARD_TRY(database.run("UPDATE schema_version SET version = version WHERE part = ?", part));
    return transaction.commit();
}

}  // namespace wheelyard::postgres
