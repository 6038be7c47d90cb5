// One node writes at a time, and knows in time when it may no longer.
#include "lib/store/nodes/writer_role.hpp"

#include <doctest/doctest.h>

#include "lib/store/nodes/node_board.hpp"
#include "tests/store/nodes/memory_board.hpp"

using namespace wheelyard;

namespace {

constexpr std::int64_t one_lease_ms = 3'000;

struct Candidate {
    Candidate(nodes::MemoryTable& table, const std::string& name)
        : lock(table, name),
          clock(table.time),
          role(
              lock, clock, one_lease_ms, [this] { ++changes; }, [this] { return is_able; }) {}
    nodes::MemoryLock lock;
    nodes::ManualNodeClock clock;
    int changes = 0;
    bool is_able = true;
    nodes::WriterRole role;
};

}  // namespace

TEST_CASE("one of two nodes has the role, and the other takes it when it is free") {
    base::ManualClock time(1'800'000'000'000'000);
    nodes::MemoryTable table(time);
    Candidate a(table, "a"), b(table, "b");
    a.role.turn();
    b.role.turn();
    CHECK(a.role.may_write());
    CHECK_FALSE(b.role.may_write());
    a.role.stop();
    b.role.turn();
    CHECK(b.role.may_write());
    CHECK(b.changes == 1);
}

TEST_CASE("a writer that is stopped ends its right before the database frees the lock") {
    base::ManualClock time(1'800'000'000'000'000);
    nodes::MemoryTable table(time);
    Candidate a(table, "a");
    a.role.turn();
    time.sleep_ms(nodes::writer_idle_ms - 1);
    CHECK_FALSE(a.role.may_write());
    table.lock_holder = "b";
    a.role.turn();
    CHECK_FALSE(a.role.seen().is_writer);
}

TEST_CASE("a writer whose connection is lost may not write") {
    base::ManualClock time(1'800'000'000'000'000);
    nodes::MemoryTable table(time);
    Candidate a(table, "a");
    a.role.turn();
    table.is_down = true;
    a.role.turn();
    CHECK_FALSE(a.role.may_write());
    CHECK(a.role.seen().last_failure == "The database does not answer");
    CHECK(a.changes == 2);
}

TEST_CASE("after a failover the new writer waits one lease") {
    base::ManualClock time(1'800'000'000'000'000);
    nodes::MemoryTable table(time);
    table.timeline = "7/00000002";
    Candidate a(table, "a");
    a.role.turn();
    CHECK_FALSE(a.role.may_write());
    CHECK(a.role.seen().is_waiting);
    time.sleep_ms(one_lease_ms - 1);
    a.role.turn();
    CHECK_FALSE(a.role.may_write());
    time.sleep_ms(1);
    a.role.turn();
    CHECK(a.role.may_write());
    a.role.stop();
    Candidate b(table, "b");  // the wait was recorded
    b.role.turn();
    CHECK(b.role.may_write());
}

TEST_CASE("a registry of one process always writes") {
    nodes::AloneLock lock;
    const nodes::SystemNodeClock clock;
    nodes::WriterRole role(lock, clock, one_lease_ms);
    role.start();
    CHECK(role.may_write());
}

TEST_CASE("a writer that sees less than others leaves the role to them until it sees again") {
    base::ManualClock time(1'800'000'000'000'000);
    nodes::MemoryTable table(time);
    Candidate a(table, "a"), b(table, "b");
    a.role.turn();
    a.is_able = false;
    a.role.turn();
    CHECK_FALSE(a.role.may_write());
    b.role.turn();
    CHECK(b.role.may_write());
    a.is_able = true;
    a.role.turn();
    CHECK_FALSE(a.role.may_write());
    b.role.stop();
    a.role.turn();
    CHECK(a.role.may_write());
}
