// The wrapper of PostgreSQL, against a real server: values, transactions, deadlines, and what its errors are called.
#include "lib/store/engine/postgres/postgres.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/engine/postgres/connection.hpp"
#include "tests/support/becomes_true.hpp"
#include "tests/support/loopback_server.hpp"
#include "tests/support/postgres_server.hpp"

using namespace wheelyard;
using postgres::Bytes;
using postgres::Database;
using postgres::Transaction;

namespace {

struct Postgres {
    std::string url = test::postgres_url();
    [[nodiscard]] Database open(Database::Mode mode = Database::Mode::read_write,
                                postgres::Deadlines deadlines = {}) const {
        auto opened = Database::open({url, {}}, mode, deadlines);
        REQUIRE_MESSAGE(opened.has_value(), opened.error().text());
        return *std::move(opened);
    }
};

Database with_rows(const Postgres& server) {
    Database database = server.open();
    REQUIRE(
        database.run_script("CREATE TABLE t (a TEXT COLLATE \"C\" NOT NULL, b BIGINT NOT NULL, c BYTEA, "
                            "PRIMARY KEY (a)); CREATE TABLE one (x BIGINT)"));
    return database;
}

// Ends every other session of the server, as a crash or an administrator does.
void end_sessions(const Database& other) {
    REQUIRE(
        other.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> "
                  "pg_backend_pid() AND backend_type = 'client backend'"));
}

}  // namespace

TEST_CASE("values come back as they were bound, whatever they are") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = with_rows(server);
    const std::string bytes("\0\xff\\x'?", 6);
    for (const std::int64_t number :
         {std::numeric_limits<std::int64_t>::min(), std::int64_t{0}, std::int64_t{1'795'000'000'000'001}}) {
        const std::string text = "'?\\ \xE2\x82\xAC " + std::to_string(number);
        REQUIRE(database.run("INSERT INTO t VALUES (?, ?, ?)", text, number, Bytes{bytes}));
        auto query = database.prepare("SELECT a, b, c, b = ?, NULL FROM t WHERE a = ?", number, text);
        REQUIRE(query.has_value());
        REQUIRE(query->step().value());
        CHECK(query->text(0) == text);
        CHECK(query->integer(1) == number);
        CHECK(query->text(2) == bytes);
        CHECK(query->integer(3) == 1);
        CHECK(query->text(4).empty());
        CHECK_FALSE(query->step().value());
    }
}

TEST_CASE("what is no text of the database is searched for and not found") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = with_rows(server);
    for (const std::string& name : {std::string("a\xff"), std::string("a\0b", 3), std::string("\xC0\x80")})
        CHECK(database.integer("SELECT count(*) FROM t WHERE a = ?", name).value() == 0);
}

TEST_CASE("a transaction is kept by its commit alone, and one that failed is not reported as kept") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = with_rows(server);
    {
        const auto dropped = Transaction::begin_locked(database, 7);
        REQUIRE(dropped.has_value());
        REQUIRE(database.run("INSERT INTO t VALUES ('a', 1)"));
    }
    CHECK(database.integer("SELECT count(*) FROM t").value() == 0);
    {
        auto kept = Transaction::begin_locked(database, 7);
        REQUIRE(database.run("INSERT INTO t VALUES ('a', 1)"));
        REQUIRE(kept->commit());
    }
    CHECK(database.integer("SELECT count(*) FROM t").value() == 1);
    auto failed = Transaction::begin_locked(database, 7);
    CHECK(database.run("INSERT INTO t VALUES ('a', 2)").error().code == "catalog.constraint");
    CHECK(failed->commit().error().code == "catalog.failed");
}

TEST_CASE(
    "writes that are sent later are there for the next statement, and their failure undoes the transaction") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = with_rows(server);
    {
        auto kept = Transaction::begin_locked(database, 7);
        for (int i = 0; i < 450; ++i)  // more than wait at once
            REQUIRE(database.run_later("INSERT INTO t VALUES (?, ?)", std::to_string(i), std::int64_t{i}));
        CHECK(database.integer("SELECT count(*) FROM t").value() == 450);
        REQUIRE(database.run_later("INSERT INTO t VALUES ('last', 0)"));
        REQUIRE(kept->commit());
    }
    CHECK(database.integer("SELECT count(*) FROM t").value() == 451);
    {
        auto failed = Transaction::begin_locked(database, 7);
        REQUIRE(database.run_later("INSERT INTO t VALUES ('new', 0)"));
        REQUIRE(database.run_later("INSERT INTO t VALUES ('last', 0)"));
        REQUIRE(database.run_later("INSERT INTO t VALUES ('newer', 0)"));
        CHECK(failed->commit().error().code == "catalog.constraint");
    }
    {
        auto failed = Transaction::begin_locked(database, 7);
        REQUIRE(database.run_later("INSERT INTO t VALUES ('last', 0)"));
        CHECK(database.integer("SELECT count(*) FROM t").error().code == "catalog.constraint");
        CHECK_FALSE(failed->commit().has_value());
    }
    {
        auto dropped = Transaction::begin_locked(database, 7);
        REQUIRE(database.run_later("INSERT INTO t VALUES ('dropped', 0)"));
    }
    CHECK(database.integer("SELECT count(*) FROM t").value() == 451);
    CHECK(database.session() == 1);
}

TEST_CASE("a snapshot does not see what is committed meanwhile, and writes nothing") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = with_rows(server);
    const Database reader = server.open(Database::Mode::read_only);
    const auto snapshot = Transaction::begin_read(reader);
    CHECK(reader.integer("SELECT count(*) FROM t").value() == 0);
    REQUIRE(database.run("INSERT INTO t VALUES ('a', 1)"));
    CHECK(reader.integer("SELECT count(*) FROM t").value() == 0);
}

TEST_CASE("a reader's connection refuses to write") {
    if (!test::has_postgres()) return;
    const Postgres server;
    { const Database made = with_rows(server); }
    CHECK_FALSE(server.open(Database::Mode::read_only).run("INSERT INTO t VALUES ('a', 1)"));
    CHECK(server.open().integer("SELECT count(*) FROM t").value() == 0);
}

TEST_CASE("a lost connection costs a reader nothing, and a transaction itself alone") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = with_rows(server);
    const Database other = server.open();
    const Database holder = server.open(Database::Mode::one_session);
    CHECK(holder.integer("SELECT 1").value() == 1);
    end_sessions(other);
    CHECK(database.integer("SELECT count(*) FROM t").value() == 0);
    CHECK(database.session() == 2);
    {  // idle when it was lost
        end_sessions(other);
        auto next = Transaction::begin_locked(database, 7);
        REQUIRE_MESSAGE(next.has_value(), next.error().text());
        REQUIRE(database.run("INSERT INTO t VALUES ('a', 1)"));
        end_sessions(other);
        const auto lost = database.run("INSERT INTO t VALUES ('b', 1)");
        CHECK(lost.error().code == "store.unreachable");
        CHECK(lost.error().kind == base::ErrorKind::unreachable);
        CHECK(next->commit().error().code == "store.unreachable");
    }
    {
        auto next = Transaction::begin_locked(database, 7);
        REQUIRE(database.run("INSERT INTO t VALUES ('c', 1)"));
        end_sessions(other);
        const auto unknown = next->commit();
        CHECK(unknown.error().code == "store.outcome_unknown");
        CHECK(unknown.error().kind == base::ErrorKind::cut);
    }
    CHECK(database.integer("SELECT count(*) FROM t").value() == 0);
    // What belonged to the session is gone, and nothing hides that.
    CHECK(holder.integer("SELECT 1").error().code == "store.unreachable");
    CHECK(holder.integer("SELECT 1").error().kind == base::ErrorKind::lost);
}

TEST_CASE("a server that does not answer is given up after the deadline, and used again when it answers") {
    if (!test::has_postgres()) return;
    const Postgres server;
    { const Database made = with_rows(server); }
    const Database database =
        server.open(Database::Mode::read_write, {.connect_s = 2, .statement_ms = 1'000});
    test::signal_postgres(SIGSTOP);
    const auto answer = database.integer("SELECT count(*) FROM t");
    test::signal_postgres(SIGCONT);
    CHECK(answer.error().code == "store.unreachable");
    // A busy machine may need longer than the deadline for the first answers.
    CHECK(test_support::becomes_true([&] { return database.integer("SELECT count(*) FROM t") == 0; }));
}

TEST_CASE("a transaction that was idle for too long, as of a stopped process, is a lost connection") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = server.open();
    const auto transaction = Transaction::begin_locked(database, 7);
    REQUIRE(database.run("SET idle_in_transaction_session_timeout = 1"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto failed = database.run("SELECT 1");
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().code == "store.unreachable");
}

TEST_CASE("a lock that is held for too long is an error that may pass") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database first = server.open();
    const Database second = server.open(Database::Mode::read_write, {.connect_s = 2, .statement_ms = 1'000});
    {
        const auto held = Transaction::begin_locked(first, 7);
        const auto waits = Transaction::begin_locked(second, 7);
        REQUIRE_FALSE(waits.has_value());
        CHECK(waits.error().code == "catalog.busy");
        CHECK(waits.error().may_pass());
    }
    CHECK(Transaction::begin_locked(second, 7).has_value());
}

TEST_CASE("a notice wakes who waits for it") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database sender = server.open();
    const Database waiter = server.open();
    CHECK(waiter.wait_notice("news", 0).value());  // what was before is not known
    CHECK_FALSE(waiter.wait_notice("news", 10).value());
    REQUIRE(sender.run_script("NOTIFY news"));
    CHECK(waiter.wait_notice("news", 60'000).value());
    CHECK_FALSE(waiter.wait_notice("news", 10).value());
}

TEST_CASE("a password comes from its file and stands in no message") {
    const base::TempDir folder = base::TempDir::make("postgres").value();
    const auto file = folder.path() / "password";
    std::ofstream(file) << "hunter2\nsecond line\n";
    const auto opened =
        Database::open({"host=/nowhere user=anna port=hunter2", file}, Database::Mode::read_write);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().code == "store.unreachable");
    CHECK(opened.error().text().find("hunter2") == std::string::npos);
    CHECK(Database::open({"host=/nowhere", folder.path() / "missing"}, Database::Mode::read_write)
              .error()
              .text()
              .find("missing") != std::string::npos);
}

TEST_CASE("an unreachable server is named, and nobody waits for it again at once") {
    const auto opened = Database::open({"host=/nowhere user=anna", {}}, Database::Mode::read_write);
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().code == "store.unreachable");
    CHECK(opened.error().kind == base::ErrorKind::unreachable);
    CHECK(opened.error().value.find("/nowhere") != std::string::npos);
}

TEST_CASE("missing steps of a schema are made once, and a newer schema is refused") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const Database database = server.open();
    constexpr const char* steps[] = {"CREATE TABLE a (x BIGINT)", "ALTER TABLE a ADD COLUMN y BIGINT"};
    const postgres::Schema first{.steps = std::span(steps, 1)}, both{.steps = steps, .oldest_program = 2};
    CHECK(postgres::check_schema_version(database, "part", both).error().code == "catalog.missing");
    REQUIRE(postgres::migrate(database, "part", first));
    CHECK(postgres::check_schema_version(database, "part", both).error().code == "catalog.too_old");
    REQUIRE(postgres::migrate(database, "part", both));
    REQUIRE(postgres::migrate(database, "part", both));
    CHECK(postgres::check_schema_version(database, "part", both));
    CHECK(database.integer("SELECT count(y) FROM a").value() == 0);
    CHECK(postgres::migrate(database, "part", first).error().code == "catalog.too_new");
    CHECK(postgres::try_write(database, "part", 7));
    constexpr const char* broken[] = {"CREATE TABLE b (x BIGINT)", "CREATE TABLE b (x BIGINT)"};
    CHECK_FALSE(postgres::migrate(database, "other", {.steps = broken}));
    CHECK_FALSE(postgres::schema_version(database, "other").value().has_value());  // none of its steps
}

TEST_CASE("a host that accepts and closes, as a forwarder without a server does, hides none of the others") {
    if (!test::has_postgres()) return;
    Postgres server;
    const testing::LoopbackServer forwarder(
        [](const testing::LoopbackRequest&) { return testing::LoopbackAnswer{}; });
    // It takes the first bytes of a session for a broken request, and closes.
    server.url = base::replace_all(server.url, "host=", "host=127.0.0.1,");
    server.url += " port=" + std::to_string(forwarder.port()) + ",5432";
    const Database database = server.open();
    CHECK(database.integer("SELECT 1").value() == 1);
    CHECK(forwarder.connections() > 0);
}

TEST_CASE("a writer that was cut off in a transaction frees its locks within the shortest lease") {
    if (!test::has_postgres()) return;
    const Postgres server;
    const auto idle = [&](Database::Mode mode) {
        const Database database = server.open(mode);
        auto query = database.prepare("SELECT current_setting('idle_in_transaction_session_timeout')");
        return query && query->step().value() ? query->text(0) : std::string();
    };
    CHECK(idle(Database::Mode::read_write) == "4s");
    CHECK(idle(Database::Mode::one_session) == "4s");
    CHECK(idle(Database::Mode::read_only) == "1min");
}

TEST_CASE("a server that a failover replaced is known by its timeline, whichever was met first") {
    postgres::Timelines seen;
    CHECK(seen.newer_than("7577", "00000001").empty());
    CHECK(seen.newer_than("7577", "0000000A").empty());
    CHECK(seen.newer_than("7577", "0000000A").empty());
    CHECK(seen.newer_than("7577", "00000009") == "0000000A");
    CHECK(seen.newer_than("7578", "00000001").empty());  // another database
    CHECK(seen.newer_than("7577", "00000010").empty());
    CHECK(seen.newer_than("7577", "0000000A") == "00000010");
}
