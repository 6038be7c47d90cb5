// Brings a database to the schema of this program: one migration a version, each in a transaction of its own.
#include "lib/store/engine/sqlite/sqlite.hpp"

#include <string>

namespace wheelyard::sqlite {
namespace {

base::Result<std::int64_t> schema_version(const Database& database) {
    return database.integer("PRAGMA user_version");
}

// Of a version that this program does not know.
base::Status check_newer(const Database& database, std::string_view what, std::int64_t version,
                         std::int64_t newest) {
    WHEELYARD_ASSIGN(const std::int64_t oldest_program, database.integer("PRAGMA application_id"));
    if (oldest_program > 0 && oldest_program <= newest) return {};
    return base::fail("catalog.too_new", "The " + std::string(what) + " was written by a newer program",
                      "schema version " + std::to_string(version),
                      "this program knows versions up to " + std::to_string(newest) + ": upgrade it");
}

}  // namespace

base::Status migrate(const Database& database, std::span<const char* const> steps, std::string_view what,
                     std::int64_t oldest_program) {
    const auto newest = static_cast<std::int64_t>(steps.size());
    while (true) {
        // The version is read again under the write lock: two programs may start at once.
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
        WHEELYARD_ASSIGN(const std::int64_t version, schema_version(database));
        if (version > newest) return check_newer(database, what, version, newest);
        if (version == newest) return {};
        WHEELYARD_TRY(database.run_script(steps[static_cast<std::size_t>(version)]));
        WHEELYARD_TRY(database.run_script("PRAGMA user_version = " + std::to_string(version + 1) +
                                          "; PRAGMA application_id = " + std::to_string(oldest_program)));
        WHEELYARD_TRY(transaction.commit());
    }
}

base::Status check_schema_version(const Database& database, std::int64_t newest) {
    WHEELYARD_ASSIGN(const std::int64_t version, schema_version(database));
    if (version > newest) return check_newer(database, "catalog", version, newest);
    if (version == newest) return {};
    return base::fail("catalog.too_old", "The catalog has an older schema than this program reads",
                      "schema version " + std::to_string(version),
                      "start wheelyard-registry once: it migrates the catalog");
}

base::Status try_write(const Database& database) {
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(const std::int64_t version, schema_version(database));
    // Writes a page even if the version is the same.
    WHEELYARD_TRY(database.run_script("PRAGMA user_version = " + std::to_string(version)));
    return transaction.commit();
}

}  // namespace wheelyard::sqlite
