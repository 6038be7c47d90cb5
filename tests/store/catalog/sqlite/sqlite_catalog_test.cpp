// What only a catalog in SQLite has: a file, its log, a schema that checks.
#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "lib/store/engine/sqlite/sqlite.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::Catalog;
using catalog::row_of;
using catalog::SqliteMode;
using sqlite::Database;

namespace {

struct Filled {
    catalog::CatalogFolder folder{catalog::InSqlite()};
    std::unique_ptr<Catalog> opened = folder.open();
    Catalog& catalog = *opened;
    Filled() {
        REQUIRE(catalog.add_file(row_of("main", "six", "1.0", 'a')));
        REQUIRE(catalog.add_file(row_of("main", "six", "1.1", 'b')));
    }
};

}  // namespace

TEST_CASE("after a clean end the file alone holds every row, also where a reader stays longer") {
    const catalog::CatalogFolder fixture{catalog::InSqlite()};
    std::unique_ptr<Catalog> reader;
    {
        const auto catalog_opened = fixture.open();
        Catalog& catalog = *catalog_opened;
        reader = fixture.open(SqliteMode::read_only);
        REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0")));
    }
    const std::filesystem::path copy = fixture.dir.path() / "copy";
    std::filesystem::copy_file(fixture.file, copy);
    CHECK(catalog::open_sqlite_catalog(copy, SqliteMode::read_only).value()->last_serial().value() == 1);
}

TEST_CASE("the log stays beside the file when the last connection closes, but not where it is opened alone") {
    const catalog::CatalogFolder fixture{catalog::InSqlite()};
    const std::filesystem::path log = fixture.file.string() + "-wal";
    { REQUIRE(fixture.open()->add_file(row_of("main", "six", "1.16.0"))); }
    REQUIRE(std::filesystem::exists(log));
    CHECK(std::filesystem::file_size(log) == 0);  // all of it is in the file
    { CHECK(fixture.open(SqliteMode::read_only)->last_serial().value() == 1); }
    CHECK(std::filesystem::exists(log));

    const std::filesystem::path copy = fixture.dir.path() / "copy";
    REQUIRE(catalog::copy_sqlite_catalog(fixture.file, copy));
    {
        REQUIRE(catalog::open_sqlite_catalog(copy, SqliteMode::alone)
                    .value()
                    ->add_file(row_of("main", "six", "1.17.0")));
    }
    CHECK_FALSE(std::filesystem::exists(copy.string() + "-wal"));
    CHECK(catalog::open_sqlite_catalog(copy, SqliteMode::read_only).value()->last_serial().value() == 2);
}

TEST_CASE("an event of a kind that this program does not know is an error, not skipped") {
    const catalog::CatalogFolder fixture{catalog::InSqlite()};
    const auto catalog_opened = fixture.open();
    const Catalog& catalog = *catalog_opened;
    const auto database = Database::open(fixture.file, Database::Mode::read_write).value();
    REQUIRE(
        database.run("INSERT INTO event (kind, time, index_name, project, filename, details_json) VALUES "
                     "('file_invented', 1, 'a', 'b', "
                     "'c', '{}')"));
    CHECK(catalog.events_after(0, 10).error().code == "catalog.unknown_event");
}

TEST_CASE("a serial is never given twice, even after rows were deleted by hand") {
    const catalog::CatalogFolder fixture{catalog::InSqlite()};
    const auto catalog_opened = fixture.open();
    Catalog& catalog = *catalog_opened;
    REQUIRE(catalog.add_file(row_of("main", "six", "1.16.0")));
    {
        const auto database = Database::open(fixture.file, Database::Mode::read_write).value();
        REQUIRE(database.run_script("DELETE FROM file; DELETE FROM event;"));
    }
    CHECK(catalog.add_file(row_of("main", "six", "1.17.0"))->serial == 2);
}

TEST_CASE("opening for reading needs a catalog") {
    const catalog::CatalogFolder fixture{catalog::InSqlite()};
    CHECK(catalog::open_sqlite_catalog(fixture.file, SqliteMode::read_only).error().code ==
          "catalog.missing");
}

TEST_CASE("a copy holds all of the catalog, is one file, and replaces none") {
    Filled filled;
    const auto to = filled.folder.dir.path() / "copy.sqlite";
    REQUIRE(catalog::copy_sqlite_catalog(filled.folder.file, to));
    {
        const auto copy = catalog::open_sqlite_catalog(to, SqliteMode::read_only).value();
        CHECK(copy->last_serial().value() == 2);
        CHECK(copy->faults().value().empty());
    }
    CHECK(catalog::copy_sqlite_catalog(filled.folder.file, to).error().code == "os.EEXIST");
}

TEST_CASE("faults: a row whose blob's row is gone is named") {
    Filled filled;
    CHECK(filled.catalog.faults().value().empty());
    {
        const auto database = Database::open(filled.folder.file, Database::Mode::read_write).value();
        REQUIRE(database.run("DELETE FROM blob WHERE sha256 = ?", std::string(64, 'a')));
    }
    const auto faults = filled.catalog.faults().value();
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].find("file") != std::string::npos);
    CHECK(faults[0].find("blob") != std::string::npos);
}

TEST_CASE("faults: a row whose size differs from its blob's is reported") {
    Filled filled;
    {
        const auto database = Database::open(filled.folder.file, Database::Mode::read_write).value();
        REQUIRE(database.run("UPDATE file SET metadata_size_bytes = metadata_size_bytes + 1"));
    }
    const auto faults = filled.catalog.faults().value();
    REQUIRE_FALSE(faults.empty());
    CHECK(faults[0].find("size") != std::string::npos);
}

TEST_CASE("the list of indexes is read of any catalog, also where there is none") {
    const catalog::CatalogFolder fixture{catalog::InSqlite()};
    REQUIRE(fixture.open()->set_index_rules({{.index = "a"}}, {.actor = "me"}, {{"a", "created"}}, "[1]"));
    CHECK(catalog::read_sqlite_index_list(fixture.file).value() == "[1]");
    CHECK(catalog::read_sqlite_index_list(fixture.dir.path() / "missing").value().empty());
}
