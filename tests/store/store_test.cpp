// One object for both databases: what is missing is said, what is made is private, a copy counts once it is kept.
#include "lib/store/store.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "lib/store/transfer.hpp"
#include "tests/store/catalog/row_fixture.hpp"
#include "tests/support/postgres_server.hpp"

using namespace wheelyard;
using database::Store;
namespace fs = std::filesystem;

namespace {

struct Folder {
    base::TempDir dir = base::TempDir::make("store").value();
    Store store{dir.path()};
    base::ManualClock clock{1'795'000'000'000'000};
};

}  // namespace

TEST_CASE("only a writer makes a catalog; readers and the list of indexes say that there is none") {
    const Folder folder;
    CHECK(folder.store.find_catalog().error().code == "os.ENOENT");
    CHECK(folder.store.reader().error().code == "catalog.missing");
    CHECK(folder.store.index_list().value().empty());
    CHECK(fs::is_empty(folder.dir.path()));
    REQUIRE(folder.store.writer());
    CHECK(folder.store.find_catalog());
    CHECK(folder.store.reader());
}

TEST_CASE("what one of its connections writes the others read") {
    const Folder folder;
    const auto writer = folder.store.writer().value();
    const auto reader = folder.store.reader().value();
    REQUIRE(writer->set_index_rules({}, {.actor = "me"}, {}, "[1]"));
    CHECK(reader->change_count().value() == 1);
    CHECK(reader->index_list().value() == "[1]");
    CHECK(folder.store.index_list().value() == "[1]");
}

TEST_CASE("its files have known names, lie in its folder and are private") {
    const Folder folder;
    CHECK(Store("/etc/wheelyard/data").files().front() == "/etc/wheelyard/data/catalog.sqlite");
    CHECK(folder.store.left_out_of_backups().empty());
    REQUIRE(folder.store.writer());
    REQUIRE(folder.store.tasks({}, folder.clock));
    CHECK(folder.store.left_out_of_backups() == std::vector<std::string>{"tasks.sqlite"});
    const std::vector<fs::path> known = folder.store.files();
    for (const auto& entry : fs::directory_iterator(folder.dir.path())) {
        CAPTURE(entry.path().string());
        CHECK(std::find(known.begin(), known.end(), entry.path()) != known.end());
        CHECK((entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
              fs::perms::none);
    }
}

TEST_CASE("a copy is in force once it is kept, and one that is dropped leaves nothing") {
    const Folder live;
    REQUIRE(live.store.writer().value()->add_file(catalog::row_of("main", "six", "1.0")));
    const Folder backup;
    CHECK(backup.store.make_copy_of(live.store).value()->last_serial().value() == 1);
    CHECK_FALSE(backup.store.find_catalog().has_value());
    REQUIRE(backup.store.drop_copy());
    CHECK(fs::is_empty(backup.dir.path()));
    REQUIRE(backup.store.make_copy_of(live.store));
    REQUIRE(backup.store.keep_copy());
    CHECK(backup.store.reader().value()->last_serial().value() == 1);
    const Folder restored;
    CHECK(restored.store.restore_copy_of(backup.store).value()->last_serial().value() == 1);
    REQUIRE(restored.store.keep_copy());
    CHECK(restored.store.writer().value()->add_file(catalog::row_of("main", "six", "1.1"))->serial == 2);
}

namespace {

// A catalog with a row in each table, and one of each kind of gap.
void fill(catalog::Catalog& catalog) {
    catalog::FileRow row = catalog::row_of("main", "six", "1.0", 'a');
    row.provenance_sha256 = std::string(64, 'd');
    row.provenance_size_bytes = 9;
    row.attestations_sha256 = std::string(64, 'e');
    row.attestations_size_bytes = 10;
    row.yanked = true;
    row.yanked_reason = "it's \xE2\x82\xAC";
    REQUIRE(catalog.add_file(row));
    REQUIRE(catalog.add_file(catalog::row_of("main", "six", "1.1", 'b')));
    const catalog::Cause cause{.actor = "anna", .reason = "no \"good\"", .time = 7};
    REQUIRE(catalog.delete_file({"main", "six-1.1-py3-none-any.whl"}, cause));
    REQUIRE(catalog.set_index_rules({{.index = "main", .is_private = true}}, cause, {}, "[{}]"));
    REQUIRE(catalog.set_yanked({"main.pypi", "six==2.0"}, true, cause));
    catalog::TokenRow token;
    token.id = "wy_0123456789ab";
    token.secret_sha256 = std::string(64, 'c');
    token.indexes = {"*"};
    REQUIRE(catalog.add_token(token));
}

std::vector<std::string> dump(const fs::path& file) {
    const auto database = sqlite::Database::open(file, sqlite::Database::Mode::read_only).value();
    std::vector<std::string> rows;
    for (const database::CopiedTable& table : database::copied_tables()) {
        auto names =
            database.prepare("SELECT name FROM pragma_table_info(?) ORDER BY name", table.name).value();
        std::string columns;
        while (names.step().value())
            columns += (columns.empty() ? "quote(" : " || '|' || quote(") + names.text(0) + ")";
        auto all = database.prepare("SELECT " + columns + " FROM " + std::string(table.name) + " ORDER BY 1")
                       .value();
        while (all.step().value())
            rows.push_back(std::string(table.name) + ": " + all.text(0));
    }
    return rows;
}

}  // namespace

TEST_CASE("the list of tables to copy is complete") {
    const Folder folder;
    REQUIRE(folder.store.writer());
    const auto database =
        sqlite::Database::open(folder.store.files().front(), sqlite::Database::Mode::read_only).value();
    CHECK(database
              .integer("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
              .value() == static_cast<std::int64_t>(database::copied_tables().size()));
    for (const database::CopiedTable& table : database::copied_tables()) {
        const std::string columns = std::string(table.numbers) +
                                    (table.numbers.empty() || table.texts.empty() ? "" : ",") +
                                    std::string(table.texts);
        CHECK(database.integer("SELECT count(*) FROM pragma_table_info(?)", table.name).value() ==
              std::count(columns.begin(), columns.end(), ',') + 1);
    }
}

TEST_CASE(
    "a catalog in PostgreSQL comes through a backup and its restoration with every row, in either engine") {
    if (!test::has_postgres()) return;
    const Folder live_folder;
    const Store live({live_folder.dir.path(), test::postgres_url()});
    CHECK(live.find_catalog().error().code == "catalog.missing");
    CHECK(live.reader().error().code == "catalog.missing");
    CHECK(live.index_list().value().empty());
    CHECK(live.check_empty());
    fill(*live.writer().value());
    CHECK(live.find_catalog());
    CHECK(live.index_list().value() == "[{}]");
    CHECK(live.check_empty().error().code == "backup.store_there");
    CHECK(live.files().empty());
    CHECK(fs::is_empty(live_folder.dir.path()));

    // The same changes in SQLite make the same rows.
    const Folder twin;
    fill(*twin.store.writer().value());
    REQUIRE(sqlite::Database::open(twin.store.files().front(), sqlite::Database::Mode::read_write)
                ->run("UPDATE registry SET id = ?", live.reader().value()->registry_id().value()));
    const Folder backup;
    CHECK(backup.store.make_copy_of(live).value()->last_serial().value() ==
          live.reader().value()->last_serial().value());
    REQUIRE(backup.store.keep_copy());
    const auto rows = dump(twin.store.files().front());
    CHECK(rows.size() > 10);
    CHECK(dump(backup.store.files().front()) == rows);

    const Folder again_folder;
    const Store again({again_folder.dir.path(), test::postgres_url()});
    REQUIRE(again.restore_copy_of(backup.store));
    CHECK(again.find_catalog().error().code == "catalog.missing");  // not in force yet
    REQUIRE_MESSAGE(again.keep_copy().has_value(), again.keep_copy().error().text());
    CHECK(fs::is_empty(again_folder.dir.path()));
    const Folder second;
    REQUIRE(second.store.make_copy_of(again));
    REQUIRE(second.store.keep_copy());
    CHECK(dump(second.store.files().front()) == rows);
    // Serials go on after those that were restored.
    const auto newest = again.reader().value()->last_serial().value();
    CHECK(again.writer().value()->add_file(catalog::row_of("main", "six", "1.2", 'f'))->serial > newest);
    CHECK(again.keep_copy().has_value() == false);  // never over what is there
}
