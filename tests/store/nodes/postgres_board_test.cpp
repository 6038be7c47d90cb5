// The board and the writer's lock in a real PostgreSQL do what those in memory do.
#include "lib/store/nodes/postgres/postgres_board.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/store/catalog/postgres/postgres_catalog.hpp"
#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/nodes/limits.hpp"
#include "tests/store/catalog/row_fixture.hpp"
#include "tests/support/becomes_true.hpp"
#include "tests/support/postgres_server.hpp"

using namespace wheelyard;
using nodes::NodeRow;

namespace {

constexpr std::int64_t long_lease_ms = 60'000;

std::unique_ptr<nodes::NodeBoard> open_board(const std::string& url) {
    auto board = nodes::open_postgres_board({url, {}});
    REQUIRE_MESSAGE(board.has_value(), board.error().text());
    return *std::move(board);
}

}  // namespace

TEST_CASE("a row of the board lives as long as its lease, by the database's clock") {
    if (!test::has_postgres()) return;
    const std::string url = test::postgres_url();
    const auto board = open_board(url);
    const auto other = open_board(url);
    NodeRow a{.id = "a", .name = "node a", .address = "http://a", .visible = 7};
    const base::UnixMicros before = base::SystemClock().now();
    const auto first = board->renew(a, long_lease_ms);
    REQUIRE_MESSAGE(first.has_value(), first.error().text());
    CHECK_FALSE(first->was_live);
    CHECK(first->time >= before);
    CHECK(first->time <= base::SystemClock().now());
    CHECK(first->timeline.find('/') != std::string::npos);
    CHECK(other->lowest_visible("1/00000001").value() == 0);
    CHECK(other->lowest_visible(first->timeline).value() ==
          0);  // it has not said in which database it shows 7
    a.timeline = first->timeline;
    CHECK(board->renew(a, long_lease_ms).value().was_live);
    CHECK(other->lowest_visible(a.timeline).value() == 7);
    const auto seen = other->nodes().value();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].row.name == "node a");
    CHECK(seen[0].lease_left_ms > 0);

    NodeRow b{.id = "b",
              .name = "node b",
              .address = "http://b",
              .visible = 5,
              .is_writer = true,
              .timeline = a.timeline};
    CHECK_FALSE(other->renew(b, 1).value().writer);
    CHECK(test_support::becomes_true([&] { return board->lowest_visible(a.timeline).value() == 7; }));
    CHECK_FALSE(other->renew(b, long_lease_ms).value().was_live);
    CHECK(board->lowest_visible(a.timeline).value() == 5);
    const auto renewed = board->renew(a, long_lease_ms).value();
    REQUIRE(renewed.writer);
    CHECK(renewed.writer->address == "http://b");
    REQUIRE(other->leave("b"));
    CHECK(board->lowest_visible(a.timeline).value() == 7);
    CHECK_FALSE(board->renew(a, long_lease_ms).value().writer);
    REQUIRE(board->leave("a"));
    CHECK(board->lowest_visible(a.timeline).value() == catalog::newest_of_all);
    CHECK(board->lowest_visible("").value() == catalog::newest_of_all);
}

TEST_CASE("the writer's lock is one session's, and free when that ends") {
    if (!test::has_postgres()) return;
    const std::string url = test::postgres_url();
    const auto a = nodes::open_postgres_lock({url, {}}).value();
    const auto b = nodes::open_postgres_lock({url, {}}).value();
    const auto first = a->take_or_keep();
    REQUIRE_MESSAGE(first.has_value(), first.error().text());
    CHECK(first->is_held);
    CHECK_FALSE(first->is_after_failover);
    CHECK(a->take_or_keep().value().is_held);
    CHECK_FALSE(b->take_or_keep().value().is_held);
    REQUIRE(a->release());
    CHECK(b->take_or_keep().value().is_held);
    const auto database = postgres::Database::open({url, {}}, postgres::Database::Mode::read_write).value();
    REQUIRE(database.run("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"));
    CHECK_FALSE(b->take_or_keep());  // it says so once, whoever has the lock now
    REQUIRE(database.run("UPDATE writer_timeline SET timeline = 'another'"));
    // The session that was ended frees its lock after it has said so.
    CHECK(test_support::becomes_true([&] { return b->take_or_keep().value().is_held; }));
    CHECK(b->take_or_keep().value().is_after_failover);
    REQUIRE(b->note_waited());
    CHECK_FALSE(b->take_or_keep().value().is_after_failover);
}

TEST_CASE("the database frees the lock of a holder that is silent") {
    if (!test::has_postgres()) return;
    const std::string url = test::postgres_url();
    const auto a = nodes::open_postgres_lock({url, {}}).value();
    const auto b = nodes::open_postgres_lock({url, {}}).value();
    REQUIRE(a->take_or_keep().value().is_held);
    CHECK(test_support::becomes_true([&] { return b->take_or_keep().value().is_held; }));
    CHECK_FALSE(a->take_or_keep());
}

TEST_CASE(
    "two versions whose schemas differ by a column share a catalog, and one that the older cannot use waits "
    "for it") {
    if (!test::has_postgres()) return;
    const std::string url = test::postgres_url();
    using Mode = postgres::Database::Mode;
    const auto open = [&](Mode mode) { return catalog::open_postgres_catalog({url, {}}, mode); };
    const auto older = open(Mode::read_write).value();
    const auto board = open_board(url);
    REQUIRE(board->renew({.id = "a", .name = "node a", .address = "http://a"}, long_lease_ms));

    const auto database = postgres::Database::open({url, {}}, Mode::read_write).value();
    const postgres::Schema known = catalog::postgres_schema();
    std::vector<const char*> steps(known.steps.begin(), known.steps.end());
    steps.push_back("ALTER TABLE file ADD COLUMN checked BIGINT NOT NULL DEFAULT 0");
    const postgres::Schema newer{.steps = steps, .oldest_program = known.oldest_program};
    REQUIRE(postgres::migrate(database, "catalog", newer));
    REQUIRE(older->add_file(catalog::row_of("main", "six", "1.0")));
    const auto restarted = open(Mode::read_write);
    REQUIRE_MESSAGE(restarted.has_value(), restarted.error().text());
    REQUIRE((*restarted)->add_file(catalog::row_of("main", "six", "2.0")));
    CHECK(open(Mode::read_only).value()->file("main", "six-2.0-py3-none-any.whl").value().has_value());
    CHECK(database.integer("SELECT count(*) FROM file WHERE checked = 0").value() == 2);
    CHECK(postgres::check_schema_version(database, "catalog", newer));

    steps.push_back("ALTER TABLE file DROP COLUMN checked");
    const postgres::Schema other{.steps = steps, .oldest_program = static_cast<std::int64_t>(steps.size())};
    const auto refused = postgres::migrate(database, "catalog", other);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == "catalog.in_use");
    CHECK(refused.error().value.find("node a") != std::string::npos);
    REQUIRE(older->add_file(catalog::row_of("main", "six", "3.0")));  // nothing was changed
    REQUIRE(board->leave("a"));
    REQUIRE(postgres::migrate(database, "catalog", other));
    for (const Mode mode : {Mode::read_write, Mode::read_only})
        CHECK(open(mode).error().code == "catalog.too_new");
}

TEST_CASE("the board keeps the newest report of each site for the other nodes") {
    if (!test::has_postgres()) return;
    const std::string url = test::postgres_url();
    const auto a = nodes::open_postgres_reports({url, {}}).value();
    const auto b = nodes::open_postgres_reports({url, {}}).value();
    CHECK(b->list()->empty());
    CHECK_FALSE(b->read("main", "bede"));
    const std::string odd("not UTF-8: \xff, and \0 inside", 26);
    REQUIRE(a->keep({"main", "bede", 20, odd}));
    REQUIRE(a->keep({"main", "bede", 10, "older"}));
    REQUIRE(a->keep({"main", "archer", 5, "x"}));
    CHECK(b->list()->size() == 2);
    CHECK(b->read("main", "bede")->text == odd);
    CHECK(b->read("main", "bede")->time == 20);
    REQUIRE(a->keep({"main", "bede", 21, "newer"}));
    CHECK(b->read("main", "bede")->text == "newer");
    REQUIRE(a->remove("main", "bede"));
    REQUIRE(b->list()->size() == 1);
    CHECK(b->list()->at(0).site == "archer");
}
