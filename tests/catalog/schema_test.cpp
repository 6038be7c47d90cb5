// The schema: made, migrated, strict, and described in docs/reference/catalog.md.
#include "registry/catalog/schema.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/temp_dir.hpp"
#include "lib/base/text.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/catalog/file_row.hpp"
#include "tests/catalog/row_fixture.hpp"

using namespace wheelyard;
using catalog::Catalog;
using catalog::Database;

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

}  // namespace

TEST_CASE("a new catalog gets the newest schema, a second migration changes nothing") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(catalog::migrate(database));
    CHECK(database.integer("PRAGMA user_version").value() == catalog::newest_schema_version());
    CHECK(base::join(column(database, all_tables), " ") ==
          "blob event file index_rule project token tombstone");
    REQUIRE(catalog::migrate(database));
    CHECK(catalog::check_schema_version(database).has_value());
}

TEST_CASE("a catalog that 0.1.0 made is migrated: all of it is there, and its new columns are filled") {
    const auto dir = base::TempDir::make("schema").value();
    {
        const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
        REQUIRE(database.run_script(
            base::read_file(std::filesystem::path(WHEELYARD_TEST_DATA) / "golden/catalog/version-1.sql",
                            base::mib)
                .value()));
        CHECK(database.integer("PRAGMA user_version").value() == 1);
    }
    CHECK(Catalog::open(dir.path() / "c", Catalog::Mode::read_only).error().code == "catalog.too_old");
    Catalog catalog = Catalog::open(dir.path() / "c", Catalog::Mode::read_write).value();
    CHECK(catalog.last_serial().value() == 3);
    CHECK(catalog.faults().value().empty());
    CHECK(catalog.projects("main").value() == std::vector<std::string>{"six-pack", "torch"});
    const auto file = catalog.file("main", "six_pack-1.1-py3-none-any.whl").value();
    REQUIRE(file.has_value());
    CHECK(file->state == catalog::FileState::active);
    CHECK_FALSE(file->pinned);
    CHECK(file->metadata_name.empty());
    CHECK(file->size_bytes == catalog.blob(file->sha256).value()->size_bytes);
    CHECK(file->size_bytes > 0);
    CHECK(file->metadata_size_bytes == catalog.blob(file->metadata_sha256).value()->size_bytes);
    CHECK(catalog.inheritance().value().rules().empty());
    CHECK(catalog.project("main", "torch").value()->status == catalog::ProjectStatus::active);
    const auto events = catalog.events_after(0, 10).value();
    REQUIRE(events.size() == 3);
    CHECK(events[2].actor == "agent");
    CHECK(events[2].reason.empty());
    CHECK(catalog.blob(file->sha256).value()->unreferenced_since == 0);
    catalog::FileRow deleted = *file;
    deleted.filename = "six_pack-0.9-py3-none-any.whl";
    CHECK(catalog.add_file(deleted)->outcome == catalog::AddOutcome::name_was_deleted);
    CHECK(catalog.tokens().value().size() == 1);
}

TEST_CASE(
    "a catalog of version 3 has its files' sizes filled in, and those that a program of version 3 adds yet") {
    const catalog::CatalogFolder folder;
    const catalog::FileRow six = catalog::row_of("main", "six", "1.16.0");
    REQUIRE(folder.open().add_file(six));
    const Database beside = Database::open(folder.file, Database::Mode::read_write).value();
    REQUIRE(
        beside.run_script("DROP TRIGGER file_sizes; ALTER TABLE file DROP COLUMN size_bytes; "
                          "ALTER TABLE file DROP COLUMN metadata_size_bytes; PRAGMA user_version = 3"));
    CHECK(Catalog::open(folder.file, Catalog::Mode::read_only).error().code == "catalog.too_old");
    Catalog catalog = folder.open();
    const auto migrated = catalog.file("main", six.filename).value();
    REQUIRE(migrated.has_value());
    CHECK(catalog::render_file_row(*migrated) == catalog::render_file_row(six));
    REQUIRE(beside.run(
        "INSERT INTO file (index_name, project, filename, version, sha256, metadata_sha256, requires_python, "
        "upload_time, uploaded_by, yanked, yanked_reason, facts_json, added_serial, state, state_reason, "
        "pinned, metadata_name) SELECT index_name, project, 'six-2.0-py3-none-any.whl', '2.0', sha256, "
        "metadata_sha256, requires_python, upload_time, uploaded_by, yanked, yanked_reason, facts_json, "
        "added_serial, state, state_reason, pinned, metadata_name FROM file"));
    const auto added = catalog.file("main", "six-2.0-py3-none-any.whl").value();
    REQUIRE(added.has_value());
    CHECK(added->size_bytes == six.size_bytes);
    CHECK(added->metadata_size_bytes == six.metadata_size_bytes);
    CHECK(catalog.faults().value().empty());
}

TEST_CASE("a migrated catalog has the very schema of a new one") {
    const auto dir = base::TempDir::make("schema").value();
    const Database fresh = Database::open(dir.path() / "new", Database::Mode::read_write).value();
    REQUIRE(catalog::migrate(fresh));
    const Database old = Database::open(dir.path() / "old", Database::Mode::read_write).value();
    REQUIRE(old.run_script(
        base::read_file(std::filesystem::path(WHEELYARD_TEST_DATA) / "golden/catalog/version-1.sql",
                        base::mib)
            .value()));
    REQUIRE(catalog::migrate(old));
    constexpr std::string_view columns =
        "SELECT t.name || '.' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || "
        "coalesce(c.dflt_value, '') FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type "
        "= 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY 1";
    CHECK(column(old, columns) == column(fresh, columns));
    CHECK(column(old, columns).size() > 30);
    constexpr std::string_view triggers = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY 1";
    CHECK(column(old, triggers) == column(fresh, triggers));
}

TEST_CASE("every table is STRICT") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(catalog::migrate(database));
    std::vector<std::string> strict =
        column(database, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 1");
    std::sort(strict.begin(), strict.end());
    CHECK(strict == column(database, all_tables));
}

TEST_CASE("a catalog of a newer program is left alone") {
    const auto dir = base::TempDir::make("schema").value();
    {
        const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
        REQUIRE(catalog::migrate(database));
        REQUIRE(database.run("PRAGMA user_version = 1000"));
    }
    for (const auto mode : {Catalog::Mode::read_write, Catalog::Mode::read_only}) {
        const auto opened = Catalog::open(dir.path() / "c", mode);
        REQUIRE_FALSE(opened.has_value());
        CHECK(opened.error().code == "catalog.too_new");
    }
}

TEST_CASE("a reader does not take an empty file for a catalog") {
    const auto dir = base::TempDir::make("schema").value();
    std::ofstream(dir.path() / "c").flush();
    CHECK(Catalog::open(dir.path() / "c", Catalog::Mode::read_only).error().code == "catalog.too_old");
}

TEST_CASE("the format document describes every table and column") {
    const auto dir = base::TempDir::make("schema").value();
    const Database database = Database::open(dir.path() / "c", Database::Mode::read_write).value();
    REQUIRE(catalog::migrate(database));
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
