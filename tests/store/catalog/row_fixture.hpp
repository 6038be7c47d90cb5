// A catalog for a test, which runs with each implementation, and rows for it: no bytes lie behind their hashes.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/postgres/postgres_catalog.hpp"
#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"
#include "tests/support/postgres_server.hpp"

namespace wheelyard::catalog {

struct InSqlite {};

struct CatalogFolder {
    base::TempDir dir = base::TempDir::make("catalog").value();
    std::filesystem::path file = dir.path() / "catalog.sqlite";
    std::string database = {};  // empty: the file

    // The whole test runs once with each.
    CatalogFolder() {
        SUBCASE("in SQLite") {}
        if (test::has_postgres()) {
            SUBCASE("in PostgreSQL") {
                database = test::postgres_url();
            }
        }
    }
    // For what only SQLite has.
    explicit CatalogFolder(InSqlite) {}
    [[nodiscard]] std::unique_ptr<Catalog> open(SqliteMode mode = SqliteMode::read_write) const {
        if (!database.empty()) {
            auto opened = open_postgres_catalog({database, {}}, mode == SqliteMode::read_only
                                                                    ? postgres::Database::Mode::read_only
                                                                    : postgres::Database::Mode::read_write);
            REQUIRE_MESSAGE(opened.has_value(), opened.error().text());
            return *std::move(opened);
        }
        return open_sqlite_catalog(file, mode).value();
    }
};

inline FileRow row_of(const std::string& index, const std::string& project, const std::string& version,
                      char hash = 'a') {
    return {{.filename = project + "-" + version + "-py3-none-any.whl",
             .requires_python = ">=3.8",
             .upload_time = 1'795'000'000'000'001,
             .size_bytes = 1234,
             .sha256 = std::string(64, hash),
             .metadata_sha256 = std::string(64, 'e')},
            index,
            project,
            version,
            56,
            "agent",
            R"({"machines":[]})"};
}

// A promotion of one file.
inline base::Result<Changed> promote_file(Catalog& catalog, const FileName& name, const std::string& to_index,
                                          const Cause& cause) {
    return catalog.promote_files(name.index, std::span(&name.filename, 1), to_index, cause);
}

}  // namespace wheelyard::catalog
