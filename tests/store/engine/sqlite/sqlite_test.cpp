// The wrapper of SQLite: values, transactions, and what its errors are called.
#include "lib/store/engine/sqlite/sqlite.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using sqlite::Database;
using sqlite::Transaction;

namespace {

int sync_errno = 0;  // what every fsync of this process says instead of being made; 0: it is made

int sync_or_fail(long call, int file) {
    if (sync_errno == 0) return static_cast<int>(::syscall(call, file));
    errno = sync_errno;
    return -1;
}

}  // namespace

// In place of the C library's, SQLite's calls included.
extern "C" {
[[gnu::visibility("default")]] int fsync(int file) {
    return sync_or_fail(SYS_fsync, file);
}
[[gnu::visibility("default")]] int fdatasync(int file) {
    return sync_or_fail(SYS_fdatasync, file);
}
}

namespace {

struct Fixture {
    base::TempDir dir = base::TempDir::make("sqlite").value();
    std::filesystem::path file = dir.path() / "a.sqlite";
    [[nodiscard]] Database open(Database::Mode mode = Database::Mode::read_write) const {
        return Database::open(file, mode).value();
    }
};

Database with_table(const Fixture& fixture) {
    Database database = fixture.open();
    REQUIRE(database.run_script(
        "CREATE TABLE t (a TEXT NOT NULL, b INTEGER NOT NULL) STRICT; CREATE TABLE u (x TEXT) STRICT;"));
    return database;
}

}  // namespace

TEST_CASE("texts and integers come back as they were bound") {
    const Fixture fixture;
    const Database database = with_table(fixture);
    const std::string odd = std::string("nul \0 inside, 'quote', \"double\"; DROP TABLE t; --", 49);
    const std::int64_t large = std::numeric_limits<std::int64_t>::max();
    REQUIRE(database.run("INSERT INTO t VALUES (?, ?)", odd, large));
    REQUIRE(database.run("INSERT INTO t VALUES (?, ?)", std::string_view(), std::int64_t{-1}));
    auto query = database.prepare("SELECT a, b FROM t ORDER BY b DESC").value();
    REQUIRE(query.step().value());
    CHECK(query.text(0) == odd);
    CHECK(query.integer(1) == large);
    REQUIRE(query.step().value());
    CHECK(query.text(0).empty());
    CHECK(query.integer(1) == -1);
    CHECK_FALSE(query.step().value());
}

TEST_CASE("a view of a column is its text until the next step") {
    const Fixture fixture;
    const Database database = with_table(fixture);
    const std::string odd("nul \0 inside and more than fits into a short string", 51);
    REQUIRE(database.run("INSERT INTO t VALUES (?, ?)", odd, std::int64_t{1}));
    REQUIRE(database.run("INSERT INTO t VALUES ('', ?)", std::int64_t{23}));
    auto query = database.prepare("SELECT a, b, NULL FROM t ORDER BY b").value();
    REQUIRE(query.step().value());
    const std::string_view first = query.view(0);
    CHECK(query.view(1) == "1");  // a number's digits
    CHECK(query.view(2).empty());
    CHECK(first == odd);  // whatever else of the row was asked for
    REQUIRE(query.step().value());
    CHECK(query.view(0).empty());
    CHECK(query.view(1) == "23");
    CHECK(query.integer(1) == 23);
}

TEST_CASE("a refused statement carries SQLite's own message") {
    const Fixture fixture;
    const Database database = with_table(fixture);
    const auto unknown = database.prepare("SELECT a FROM nowhere");
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().code == "catalog.failed");
    CHECK(unknown.error().value.find("nowhere") != std::string::npos);
    const auto typed =
        database.run("INSERT INTO t VALUES (?, ?)", std::string("a"), std::string("no number"));
    REQUIRE_FALSE(typed.has_value());
    CHECK(typed.error().code == "catalog.constraint");
    const auto too_many = database.run("SELECT ?", std::string("a"), std::string("b"));
    CHECK_FALSE(too_many.has_value());
}

TEST_CASE("a transaction that is not committed leaves nothing") {
    const Fixture fixture;
    const Database database = with_table(fixture);
    {
        const Transaction transaction = Transaction::begin_immediate(database).value();
        REQUIRE(database.run("INSERT INTO u VALUES ('x')"));
    }
    CHECK(database.integer("SELECT count(*) FROM u").value() == 0);
    {
        Transaction transaction = Transaction::begin_immediate(database).value();
        REQUIRE(database.run("INSERT INTO u VALUES ('x')"));
        REQUIRE(transaction.commit());
    }
    CHECK(database.integer("SELECT count(*) FROM u").value() == 1);
    CHECK(database.changes() == 1);
}

TEST_CASE("a failed open has an error code for its cause") {
    const Fixture fixture;
    CHECK(Database::open(fixture.file, Database::Mode::read_only).error().code == "catalog.missing");
    CHECK(Database::open(fixture.dir.path() / "no" / "folder", Database::Mode::read_write).error().code ==
          "catalog.missing");
    std::ofstream(fixture.file) << std::string(4096, 'x');
    const Database opened = fixture.open();
    CHECK(opened.run("SELECT * FROM sqlite_schema").error().code == "catalog.corrupt");
}

TEST_CASE("a read-only connection cannot write") {
    const Fixture fixture;
    { const Database made = with_table(fixture); }
    const Database reader = fixture.open(Database::Mode::read_only);
    CHECK(reader.run("INSERT INTO u VALUES ('x')").error().code == "catalog.not_writable");
}

TEST_CASE("a database that may not grow is a full disk") {
    const Fixture fixture;
    const Database database = with_table(fixture);
    REQUIRE(database.run("PRAGMA max_page_count = 4"));
    const auto full = database.run("INSERT INTO u VALUES (?)", std::string(100'000, 'x'));
    REQUIRE_FALSE(full.has_value());
    CHECK(full.error().code == "catalog.disk_full");
    CHECK(full.error().os_error == ENOSPC);
    CHECK(full.error().may_pass());
}

TEST_CASE("a full disk that only the fsync of a commit meets is a full disk, and a broken one is not") {
    const Fixture fixture;
    const Database database = with_table(fixture);
    REQUIRE(database.run("PRAGMA journal_mode = WAL"));
    REQUIRE(database.run("PRAGMA synchronous = FULL"));
    struct Row {
        int error_number;
        std::string code;
    };
    const Row rows[] = {{ENOSPC, "catalog.disk_full"},
                        {EIO, "catalog.io"},  // what the file remembers of the one before does not count
                        {EDQUOT, "catalog.disk_full"},
                        {EIO, "catalog.io"}};
    for (const Row& row : rows) {
        CAPTURE(row.error_number);
        Transaction transaction = Transaction::begin_immediate(database).value();
        REQUIRE(database.run("INSERT INTO u VALUES ('lost')"));
        sync_errno = row.error_number;
        const auto committed = transaction.commit();
        sync_errno = 0;
        REQUIRE_FALSE(committed.has_value());
        CHECK(committed.error().code == row.code);
        CHECK((committed.error().os_error == ENOSPC) == (row.code == "catalog.disk_full"));
    }
    REQUIRE(database.run("INSERT INTO u VALUES ('kept')"));
    CHECK(database.integer("SELECT count(*) FROM u").value() == 1);
}

TEST_CASE(
    "a database and its companions are for their owner only, those of an older store from the next opening "
    "on") {
    const auto mode_of = [](const std::filesystem::path& file) {
        return static_cast<unsigned>(std::filesystem::status(file).permissions() &
                                     std::filesystem::perms::mask);
    };
    const Fixture fixture;
    const std::string file = fixture.file.string();
    {
        const Database database = with_table(fixture);
        REQUIRE(database.keep_log().has_value());
        REQUIRE(database.run("PRAGMA journal_mode = WAL").has_value());
        REQUIRE(database.run("INSERT INTO u VALUES ('x')").has_value());
        for (const char* suffix : {"", "-wal", "-shm"}) {
            CAPTURE(suffix);
            CHECK(mode_of(file + suffix) == 0600);
        }
    }
    for (const char* suffix : {"", "-wal"})
        std::filesystem::permissions(file + suffix, static_cast<std::filesystem::perms>(0644));
    const Database again = fixture.open();
    CHECK(mode_of(file) == 0600);
    CHECK(mode_of(file + "-wal") == 0600);
    const auto copy = fixture.dir.path() / "copy.sqlite";
    REQUIRE(again.copy_to(copy).has_value());
    CHECK(mode_of(copy) == 0600);
}
