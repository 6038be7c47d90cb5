#include "registry/catalog/sqlite/sqlite_catalog.hpp"

#include <system_error>
#include <utility>

#include "registry/catalog/sqlite/schema.hpp"
#include "registry/catalog/sqlite/sqlite_rows.hpp"
#include "registry/sqlite/migration.hpp"

namespace wheelyard::catalog {

base::Result<std::unique_ptr<Catalog>> open_sqlite_catalog(const std::filesystem::path& file,
                                                           SqliteMode mode) {
    const bool writes = mode != SqliteMode::read_only;
    WHEELYARD_ASSIGN(Database database,
                     Database::open(file, writes ? Database::Mode::read_write : Database::Mode::read_only));
    if (mode != SqliteMode::alone) WHEELYARD_TRY(database.keep_log());  // before any statement opens the log
    WHEELYARD_TRY(database.run("PRAGMA foreign_keys = ON"));
    if (writes) {
        // WAL: readers never wait for the writer. FULL: a commit is on the disk when it returns (WAL's NORMAL
        // may lose the last).
        WHEELYARD_TRY(database.run(mode == SqliteMode::alone ? "PRAGMA journal_mode = DELETE"
                                                             : "PRAGMA journal_mode = WAL"));
        WHEELYARD_TRY(database.run("PRAGMA synchronous = FULL"));
        WHEELYARD_TRY(sqlite::migrate(database, schema_steps()));
    } else {
        WHEELYARD_TRY(
            sqlite::check_schema_version(database, static_cast<std::int64_t>(schema_steps().size())));
    }
    return std::make_unique<SqliteCatalog>(std::move(database), mode == SqliteMode::read_write);
}

base::Result<std::string> read_sqlite_index_list(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return std::string();
    WHEELYARD_ASSIGN(const Database database, Database::open(file, Database::Mode::read_only));
    WHEELYARD_TRY(database.keep_log());
    constexpr std::int64_t first_with_list = 5;
    WHEELYARD_ASSIGN(const std::int64_t version, database.integer("PRAGMA user_version"));
    if (version < first_with_list) return std::string();
    return read_list(database);
}

base::Status copy_sqlite_catalog(const std::filesystem::path& file, const std::filesystem::path& to) {
    WHEELYARD_ASSIGN(const Database database, Database::open(file, Database::Mode::read_only));
    WHEELYARD_TRY(database.keep_log());
    return database.copy_to(to);
}

}  // namespace wheelyard::catalog
