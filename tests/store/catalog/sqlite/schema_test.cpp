// The schema: made, migrated, strict, and described in docs/reference/catalog.md.

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/catalog/postgres/postgres_catalog.hpp"
#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"
#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "tests/store/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::SqliteMode;
using sqlite::Database;

namespace {

std::vector<std::string> column(const Database& database, std::string_view sql) {
    std::vector<std::string> values;
    auto query = database.prepare(sql).value();
    while (query.step().value())
        values.push_back(query.text(0));
    return values;
}

constexpr std::string_view all_tables =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";

// Two versions of a small store, as a registry's database goes from one to the next.
constexpr std::array sample_steps{
    "CREATE TABLE shelf (name TEXT NOT NULL) STRICT;",
    "ALTER TABLE shelf ADD COLUMN letters INTEGER; UPDATE shelf SET letters = length(name);"};
constexpr std::string_view shelf_columns = "SELECT name FROM pragma_table_info('shelf') ORDER BY cid";

}  // namespace

TEST_CASE("a new catalog gets the newest schema, a second migration changes nothing") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(sqlite::migrate(database, catalog::schema_steps()));
    CHECK(database.integer("PRAGMA user_version").value() ==
          static_cast<std::int64_t>(catalog::schema_steps().size()));
    CHECK(
        base::join(column(database, all_tables), " ") ==
        "blob change_count event file index_list index_rule project registry token tombstone upstream_mark");
    REQUIRE(sqlite::migrate(database, catalog::schema_steps()));
    CHECK(sqlite::check_schema_version(database, 9).has_value());
}

TEST_CASE("an older database is migrated by the steps that it lacks, and by no other") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(sqlite::migrate(database, std::span(sample_steps).first(1)));
    REQUIRE(database.run("INSERT INTO shelf (name) VALUES ('torch')"));
    CHECK(database.integer("PRAGMA user_version").value() == 1);
    for (int time = 0; time < 2; ++time) {
        REQUIRE(sqlite::migrate(database, sample_steps));
        CHECK(database.integer("PRAGMA user_version").value() == 2);
        CHECK(column(database, "SELECT name || ' ' || letters FROM shelf") ==
              std::vector<std::string>{"torch 5"});
    }
    CHECK(sqlite::migrate(database, std::span(sample_steps).first(1)).error().code == "catalog.too_new");
}

TEST_CASE("a step that fails half-way changes nothing, and the next start takes it whole") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(sqlite::migrate(database, std::span(sample_steps).first(1)));
    const std::array broken{sample_steps[0], "ALTER TABLE shelf ADD COLUMN letters INTEGER; nonsense;"};
    CHECK(sqlite::migrate(database, broken).error().code == "catalog.failed");
    CHECK(database.integer("PRAGMA user_version").value() == 1);
    CHECK(column(database, shelf_columns) == std::vector<std::string>{"name"});
    REQUIRE(sqlite::migrate(database, sample_steps));
    CHECK(column(database, shelf_columns) == std::vector<std::string>{"name", "letters"});
}

TEST_CASE(
    "a migration that is killed in the middle of a step changes nothing, and the next start takes it whole") {
    const auto dir = base::TempDir::make("schema").value();
    const auto file = dir.path() / "c";
    {
        const Database database = Database::open(file, Database::Mode::read_write).value();
        REQUIRE(sqlite::migrate(database, std::span(sample_steps).first(1)));
        REQUIRE(database.run("INSERT INTO shelf (name) VALUES ('torch')"));
    }
    const pid_t child = ::fork();
    if (child == 0) {
        // The kernel kills it with SIGXFSZ at the write that would make a file larger than this, which is
        // one of the step's own: it changes more than SQLite keeps in memory.
        const rlimit bytes{1 << 20, 1 << 20};
        const rlimit no_core{};
        ::setrlimit(RLIMIT_FSIZE, &bytes);
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::signal(SIGXFSZ, SIG_DFL);
        const std::string large = std::string(sample_steps[1]) +
                                  "CREATE TABLE filler (bytes BLOB) STRICT;"
                                  "INSERT INTO filler VALUES (zeroblob(16000000));";
        const std::array steps{sample_steps[0], large.c_str()};
        const auto database = Database::open(file, Database::Mode::read_write);
        static_cast<void>(database && sqlite::migrate(*database, steps));
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGXFSZ);
    const Database database = Database::open(file, Database::Mode::read_write).value();
    CHECK(database.integer("PRAGMA user_version").value() == 1);
    CHECK(column(database, shelf_columns) == std::vector<std::string>{"name"});
    REQUIRE(sqlite::migrate(database, sample_steps));
    CHECK(column(database, "SELECT name || ' ' || letters FROM shelf") ==
          std::vector<std::string>{"torch 5"});
}

TEST_CASE("every table is STRICT") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(sqlite::migrate(database, catalog::schema_steps()));
    std::vector<std::string> strict =
        column(database, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 1");
    std::sort(strict.begin(), strict.end());
    CHECK(strict == column(database, all_tables));
}

TEST_CASE("a catalog of a newer program is left alone") {
    const auto dir = base::TempDir::make("schema").value();
    {
        const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
        REQUIRE(sqlite::migrate(database, catalog::schema_steps()));
        REQUIRE(database.run("PRAGMA user_version = 1000"));
    }
    for (const auto mode : {SqliteMode::read_write, SqliteMode::read_only}) {
        const auto opened = catalog::open_sqlite_catalog(dir.path() / "c", mode);
        REQUIRE_FALSE(opened.has_value());
        CHECK(opened.error().code == "catalog.too_new");
    }
}

TEST_CASE("a program goes on with what a newer one only added to, and leaves alone what it changed") {
    const auto dir = base::TempDir::make("schema").value();
    const auto file = dir.path() / "c";
    const std::string known = std::to_string(catalog::schema_steps().size());
    std::vector<const char*> steps(catalog::schema_steps().begin(), catalog::schema_steps().end());
    std::string added;
    {
        REQUIRE(catalog::open_sqlite_catalog(file, SqliteMode::read_write));
        const Database older = Database::open(file, Database::Mode::read_write).value();
        CHECK(older.integer("PRAGMA application_id").value() == catalog::oldest_program);
        for (const std::string& table : column(older, all_tables))
            added += "ALTER TABLE " + table + " ADD COLUMN later TEXT NOT NULL DEFAULT '';";
        added += "CREATE TABLE shelf (name TEXT NOT NULL) STRICT;";
        steps.push_back(added.c_str());
        REQUIRE(sqlite::migrate(older, steps, "catalog", catalog::oldest_program));
        CHECK(older.integer("PRAGMA user_version").value() == std::stoll(known) + 1);
    }
    for (int time = 0; time < 2; ++time) {
        const auto catalog = catalog::open_sqlite_catalog(file, SqliteMode::read_write).value();
        CHECK(catalog->add_file(catalog::row_of("main", "six", time == 0 ? "1.0" : "2.0")));
        CHECK(catalog->faults().value().empty());
        const auto reader = catalog::open_sqlite_catalog(file, SqliteMode::read_only).value();
        CHECK(reader->projects("main").value() == std::vector<std::string>{"six"});
        REQUIRE(catalog::copy_sqlite_catalog(file, dir.path() / ("copy" + std::to_string(time))));
    }
    CHECK(catalog::open_sqlite_catalog(dir.path() / "copy0", SqliteMode::read_only));

    steps.push_back("DROP TABLE shelf");
    {
        const Database newer = Database::open(file, Database::Mode::read_write).value();
        REQUIRE(sqlite::migrate(newer, steps, "catalog", static_cast<std::int64_t>(steps.size())));
    }
    for (const auto mode : {SqliteMode::read_write, SqliteMode::read_only})
        CHECK(catalog::open_sqlite_catalog(file, mode).error().code == "catalog.too_new");
}

TEST_CASE("a reader does not take an empty file for a catalog") {
    const auto dir = base::TempDir::make("schema").value();
    std::ofstream(dir.path() / "c").flush();
    CHECK(catalog::open_sqlite_catalog(dir.path() / "c", SqliteMode::read_only).error().code ==
          "catalog.too_old");
}

TEST_CASE("the format document describes every table and column") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(sqlite::migrate(database, catalog::schema_steps()));
    std::ifstream in(std::filesystem::path(WHEELYARD_TEST_DATA) / "../docs/reference/catalog.md");
    std::stringstream document;
    document << in.rdbuf();
    for (const std::string& name :
         column(database,
                "SELECT DISTINCT c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE "
                "t.type = 'table' AND t.name NOT "
                "LIKE 'sqlite%' UNION SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                "'sqlite%'")) {
        CAPTURE(name);
        CHECK(document.str().find("`" + name + "`") != std::string::npos);
    }
}

TEST_CASE("the number of changes of an older catalog begins at 0, and its rows stay") {
    const auto dir = base::TempDir::make("schema").value();
    {
        const Database older = Database::open(dir.path() / "c", Database::Mode::read_write).value();
        REQUIRE(sqlite::migrate(older, catalog::schema_steps().first(5)));
        REQUIRE(
            older.run_script("INSERT INTO project (index_name, name) VALUES ('main', 'six');"
                             "INSERT INTO index_list VALUES (1, '[1]');"));
    }
    CHECK(catalog::open_sqlite_catalog(dir.path() / "c", SqliteMode::read_only).error().code ==
          "catalog.too_old");
    CHECK(catalog::read_sqlite_index_list(dir.path() / "c").value() == "[1]");
    const auto opened = catalog::open_sqlite_catalog(dir.path() / "c", SqliteMode::read_write).value();
    CHECK(opened->change_count().value() == 0);
    CHECK(opened->projects("main").value() == std::vector<std::string>{"six"});
    REQUIRE(opened->add_file(catalog::row_of("main", "six", "1.0")));
    CHECK(opened->change_count().value() == 1);
    CHECK(opened->faults().value().empty());
}

TEST_CASE("a PostgreSQL catalog of the version before keeps its files, and takes marks") {
    if (!test::has_postgres()) return;
    const postgres::Target target{test::postgres_url(), {}};
    const auto mode = postgres::Database::Mode::read_write;
    REQUIRE(catalog::open_postgres_catalog(target, mode)
                .value()
                ->add_file(catalog::row_of("main", "six", "1.0")));
    REQUIRE(postgres::Database::open(target, mode)
                .value()
                .run_script("DROP TABLE upstream_mark; DROP INDEX file_by_version;"
                            "CREATE INDEX file_by_project ON file (index_name, project);"
                            "UPDATE schema_version SET version = 3 WHERE part = 'catalog'"));
    const auto opened = catalog::open_postgres_catalog(target, mode).value();
    CHECK(opened->files("main", "six").value().size() == 1);
    CHECK(opened->set_yanked({"main.pypi", "six==1.0"}, true, {.actor = "anna", .reason = "old"})->outcome ==
          catalog::ChangeOutcome::changed);
    CHECK(opened->add_file(catalog::row_of("main", "six", "1.0.0"))->outcome ==
          catalog::AddOutcome::name_taken);
}
