// What only a task queue in SQLite has: a file, a schema, another connection that writes.
#include "registry/tasks/sqlite/sqlite_tasks.hpp"

#include <doctest/doctest.h>

#include <string>

#include "registry/engine/sqlite/migration.hpp"
#include "registry/engine/sqlite/sqlite.hpp"
#include "registry/tasks/limits.hpp"
#include "tests/registry/tasks/queue_fixture.hpp"

using namespace wheelyard;
using tasks::lease_s;
using tasks::ms_per_s;
using tasks::StoreFixture;
using wire::TaskState;

TEST_CASE("a closed and opened queue is the same, and a newer one is refused") {
    StoreFixture farm{tasks::InSqlite()};
    const std::string id = farm.add();
    farm.claim('1');
    farm.store->append_log(id, farm.name('1'), 0, "text").value();
    farm.store = farm.open();
    CHECK(farm.state(id) == TaskState::claimed);
    CHECK(farm.store->renew(id, farm.name('1')).value().log_bytes == 4);
    farm.store.reset();
    {
        const auto database = sqlite::Database::open(farm.file, sqlite::Database::Mode::read_write);
        REQUIRE(database.has_value());
        REQUIRE(database->run_script("PRAGMA user_version = 99; PRAGMA application_id = 99").has_value());
    }
    const auto refused = tasks::open_sqlite_tasks(farm.file);
    CHECK(farm.code(refused) == "catalog.too_new");
    CHECK(refused.error().sentence == "The task queue was written by a newer program");
}

TEST_CASE("long logs go in several transactions") {
    StoreFixture farm{tasks::InSqlite()};
    for (const char digit : {'1', '2', '3'}) {
        const std::string id = farm.add();
        REQUIRE(farm.claim(digit) == id);
        farm.store->end(id, farm.end(digit, true)).value();
    }
    const auto beside = sqlite::Database::open(farm.file, sqlite::Database::Mode::read_write);
    REQUIRE(beside->run("UPDATE lease SET log_bytes = ?", tasks::max_log_bytes_removed_at_once / 2));
    farm.clock.sleep_ms((tasks::TaskRules().kept_days + 1) * 24 * 3600 * ms_per_s);
    farm.add(farm.request("scipy"));
    CHECK(farm.store->removed() == 2);
    farm.add(farm.request("numpy"));
    CHECK(farm.store->removed() == 3);
}

TEST_CASE("what is removed leaves no lease and no piece of a log") {
    StoreFixture farm{tasks::InSqlite()};
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    farm.store->append_log(id, farm.name('1'), 0, "text").value();
    farm.store->end(id, farm.end('1', true)).value();
    farm.clock.sleep_ms((tasks::TaskRules().kept_days + 1) * 24 * 3600 * ms_per_s);
    farm.add(farm.request("numpy"));
    CHECK(farm.store->removed() == 1);
    const auto database = sqlite::Database::open(farm.file, sqlite::Database::Mode::read_only);
    CHECK(
        database->integer("SELECT (SELECT count(*) FROM lease) + (SELECT count(*) FROM log_piece)").value() ==
        0);
}

TEST_CASE("a removal that fails refuses no change, and is tried again an hour later") {
    StoreFixture farm{tasks::InSqlite()};
    const std::string id = farm.add();
    REQUIRE(farm.store->cancel(id, "anna", ""));
    const auto beside = sqlite::Database::open(farm.file, sqlite::Database::Mode::read_write);
    REQUIRE(
        beside->run_script("CREATE TRIGGER keep BEFORE DELETE ON task BEGIN SELECT raise(ABORT, 'no'); END"));
    farm.clock.sleep_ms((tasks::TaskRules().kept_days + 1) * 24 * 3600 * ms_per_s);
    farm.add(farm.request("scipy"));
    REQUIRE(beside->run_script("DROP TRIGGER keep"));
    farm.add(farm.request("numpy"));
    CHECK(farm.store->find(id).has_value());
    farm.clock.sleep_ms(tasks::sweep_every_s * ms_per_s);
    farm.add(farm.request("pandas"));
    CHECK(farm.code(farm.store->find(id)) == "task.no_such_task");
    CHECK(farm.store->removed() == 1);
}

TEST_CASE("who only asks waits for nobody who writes, unless a lease is over") {
    StoreFixture farm{tasks::InSqlite()};
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    farm.store->append_log(id, farm.name('1'), 0, "text").value();
    const auto writing = sqlite::Database::open(farm.file, sqlite::Database::Mode::read_write);
    REQUIRE(writing.has_value());
    REQUIRE(writing->run("BEGIN IMMEDIATE").has_value());
    CHECK(farm.state(id) == TaskState::claimed);
    CHECK(farm.store->list({}).value().size() == 1);
    CHECK(farm.store->read_log(id, 0, 0).value() == "text");
    CHECK(farm.store->find_grant(farm.terms('1').grant_id).value().has_value());
    CHECK(farm.store->target_index(id, farm.name('1')).value().value() == "staging");
    REQUIRE(writing->run("ROLLBACK").has_value());
    farm.clock.sleep_ms(lease_s * ms_per_s);
    CHECK(farm.state(id) == TaskState::queued);
    CHECK(farm.code(farm.store->target_index(id, farm.name('1'))) == "task.lease_over");
    CHECK(farm.code(farm.store->target_index(id, farm.name('2'))) == "task.no_such_claim");
}

TEST_CASE("the queue of an earlier version keeps its tasks, leases and logs") {
    const base::TempDir other = base::TempDir::make("tasks").value();
    const auto file = other.path() / "tasks.sqlite";
    {
        auto old = sqlite::Database::open(file, sqlite::Database::Mode::read_write).value();
        REQUIRE(sqlite::migrate(old, tasks::schema_steps().first(1)));
        REQUIRE(old.run_script(
            "INSERT INTO task VALUES (7, 't1', 'bede', 'torch', '2.4.0', '3.11', '', 'claimed', '', 'anna', "
            "1, 2, 1, '');"
            "INSERT INTO lease VALUES ('" +
            StoreFixture::name('1') +
            "', 't1', 1, 'login1', 'wy_a', 'held', 9000000000000000, 'bede', 'wy_g', '" +
            std::string(64, 'b') +
            "', '', '', 3, 1);"
            "INSERT INTO log_piece VALUES ('" +
            StoreFixture::name('1') + "', 0, 'abc')"));
    }
    const base::ManualClock clock{1'795'000'000'000'000};
    auto rows = tasks::open_sqlite_tasks(file);
    REQUIRE_MESSAGE(rows.has_value(), rows.error().text());
    tasks::TaskStore opened(*std::move(rows), {lease_s, 3}, clock);
    const wire::Task task = opened.find("t1").value();
    CHECK(task.state == TaskState::claimed);
    CHECK(task.agent == "login1");
    CHECK_FALSE(task.request.source.has_value());
    CHECK(opened.read_log("t1", 0, 0).value() == "abc");
    CHECK(opened.renew("t1", StoreFixture::name('1')).has_value());
}
