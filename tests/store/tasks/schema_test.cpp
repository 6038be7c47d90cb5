// What the schema's steps make of the rows of earlier versions.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>

#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "lib/store/tasks/build_store.hpp"
#include "tests/store/tasks/queue_fixture.hpp"

using namespace wheelyard;
using tasks::lease_s;
using tasks::StoreFixture;
using wire::TaskState;

namespace {

// These are rows of the first version: a task that is claimed, others that have their outcome, and the logs
// that their agents sent.
std::string earlier_rows(const std::string& task_columns = "", const std::string& task_values = "") {
    const auto row = [&](const std::string& id, const std::string& package, const std::string& state,
                         const std::string& outcome) {
        return "INSERT INTO task (id, index_name, package, version, python, accelerator, state, reason, "
               "asked_by, "
               "asked, changed, attempts, outcome_json" +
               task_columns + ") VALUES ('" + id + "', 'bede', '" + package + "', '2.4.0', '3.11', '', '" +
               state + "', '', 'anna', 1000000, 2000000, 1, '" + outcome + "'" + task_values + ");";
    };
    const auto lease = [](char digit, const std::string& id, const std::string& state) {
        const std::string claim = std::string(32, digit);
        return "INSERT INTO lease VALUES ('" + claim + "', '" + id + "', 1, 'bede.gh.login1', 'wy_a', '" +
               state + "', 9000000000000000, 'bede', 'wy_g" + digit + "', '" + std::string(64, 'b') +
               "', '', '', 3, 1); INSERT INTO log_piece VALUES ('" + claim + "', 0, 'ab" + digit + "');";
    };
    return row("t1", "torch", "claimed", "") + lease('1', "t1", "held") +
           row("t2", "numpy", "done", R"({"attempt":"w7","site":"bede.gh"})") + lease('2', "t2", "ended") +
           row("t3", "six", "failed", R"({"attempt":"w8","site":"bede.gh","log":"\u0000\\u0000\\\u0000"})") +
           lease('3', "t3", "ended") +
           row("t4", "scipy", "failed",
               R"({"site":")" + std::string(100, 's') + R"(","attempt":")" + std::string(100, 'w') +
                   R"("})") +
           lease('4', "t4", "ended");
}

void check_earlier(std::unique_ptr<tasks::TaskRows> rows, std::unique_ptr<tasks::BuildRows> build_rows) {
    const base::ManualClock clock{1'795'000'000'000'000};
    tasks::TaskStore opened(std::move(rows), {lease_s, 3, 36'500}, clock);
    const wire::Task task = opened.find("t1").value();
    CHECK(task.state == TaskState::claimed);
    CHECK(task.agent == "bede.gh.login1");
    CHECK_FALSE(task.request.source.has_value());
    CHECK(task.lease_until == 9'000'000'000'000'000);
    CHECK(opened.use("t1", "wy_a", "torch.whl", "aa").has_value());  // its site goes on
    CHECK(opened.find("t2").value().state == TaskState::done);
    tasks::BuildStore builds(std::move(build_rows), {.kept_days = 36'500}, clock);
    CHECK(builds.read_log({"bede", "bede.gh", "w7"}, 0).value() == "ab2");
    const auto kept = builds.find({"bede", "bede.gh", "w7"}).value();
    REQUIRE(kept.has_value());
    CHECK(kept->report.state == "done");
    CHECK(kept->report.python == "3.11");
    CHECK(kept->report.began > 1'000'000);
    CHECK(kept->log_bytes == 3);
    CHECK(builds.read_log({"bede", "bede.gh", "w8"}, 0).value() == "ab3");
    const auto scipy = builds.list("bede", "scipy").value();
    REQUIRE(scipy.size() == 1);
    CHECK(scipy[0].report.site == "bede.gh");
    CHECK(scipy[0].report.id.starts_with("claim-"));
    const auto torch = builds.list("bede", "torch").value();
    REQUIRE(torch.size() == 1);
    CHECK(torch[0].report.site == "bede.gh");
    CHECK(torch[0].report.state == "ended");
    CHECK(builds.read_log({"bede", "bede.gh", torch[0].report.id}, 0).value() == "ab1");
}

}  // namespace

TEST_CASE(
    "the queue of an earlier version keeps its tasks and who has them, and its logs become those of builds") {
    const base::TempDir other = base::TempDir::make("tasks").value();
    const auto file = other.path() / "tasks.sqlite";
    {
        auto old = sqlite::Database::open(file, sqlite::Database::Mode::read_write).value();
        REQUIRE(sqlite::migrate(old, tasks::schema_steps().first(1)));
        REQUIRE(old.run_script(earlier_rows()));
    }
    auto rows = tasks::open_sqlite_tasks(file);
    REQUIRE_MESSAGE(rows.has_value(), rows.error().text());
    check_earlier(*std::move(rows), tasks::open_sqlite_builds(file).value());
}

TEST_CASE("the queue of an earlier version in PostgreSQL keeps them likewise") {
    if (!test::has_postgres()) return;
    const postgres::Target target{test::postgres_url(), {}};
    {
        auto old = postgres::Database::open(target, postgres::Database::Mode::read_write).value();
        const std::span<const char* const> steps = tasks::postgres_schema().steps;
        REQUIRE(postgres::migrate(old, "tasks", {.steps = steps.first(2)}));
        REQUIRE(old.run_script(
            earlier_rows(", source_index, source_filename, source_sha256, approved_by", ", '', '', '', ''")));
    }
    auto rows = tasks::open_postgres_tasks(target);
    REQUIRE_MESSAGE(rows.has_value(), rows.error().text());
    check_earlier(*std::move(rows), tasks::open_postgres_builds(target).value());
}
