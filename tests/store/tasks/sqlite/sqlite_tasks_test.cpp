// What only a task queue in SQLite has: a file, a schema, another connection that writes.
#include "lib/store/tasks/sqlite/sqlite_tasks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/store/engine/sqlite/sqlite.hpp"
#include "lib/store/tasks/limits.hpp"
#include "tests/store/tasks/queue_fixture.hpp"

using namespace wheelyard;
using tasks::lease_s;
using tasks::ms_per_s;
using tasks::StoreFixture;
using wire::TaskState;

TEST_CASE("a closed and opened queue is the same, and a newer one is refused") {
    StoreFixture farm{tasks::InSqlite()};
    const std::string id = farm.add();
    farm.claim('1');
    farm.store = farm.open();
    CHECK(farm.state(id) == TaskState::claimed);
    CHECK(farm.renew('1', {id}) == std::vector<std::string>{id});
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

TEST_CASE("who only asks waits for nobody who writes, unless a site is late") {
    StoreFixture farm{tasks::InSqlite()};
    const std::string id = farm.add();
    REQUIRE(farm.claim('1') == id);
    const auto writing = sqlite::Database::open(farm.file, sqlite::Database::Mode::read_write);
    REQUIRE(writing.has_value());
    REQUIRE(writing->run("BEGIN IMMEDIATE").has_value());
    CHECK(farm.state(id) == TaskState::claimed);
    CHECK(farm.store->list({}).value().size() == 1);
    CHECK(farm.store->held(id, farm.token('1')).has_value());
    REQUIRE(writing->run("ROLLBACK").has_value());
    farm.clock.sleep_ms(lease_s * ms_per_s);
    CHECK(farm.state(id) == TaskState::queued);
    CHECK(farm.store->held(id, farm.token('1')).error().code == "task.lost");
}
