// A node answers only while its lease lives and its pages show what was answered before.
#include "lib/store/nodes/node_lease.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

#include "lib/store/nodes/node_board.hpp"
#include "tests/store/nodes/memory_board.hpp"

using namespace wheelyard;
using nodes::LeaseState;
using nodes::Serial;

namespace {

constexpr std::int64_t lease_ms = 3'000;

// One catalog, one board, and nodes whose publishers run when the test lets them.
struct Cluster {
    base::ManualClock time{1'800'000'000'000'000};
    nodes::MemoryTable table{time};
    Serial newest = 0;
};

struct Node {
    explicit Node(Cluster& in, std::string name = "a", bool serves_on = false, std::int64_t read_on_ms = 0)
        : cluster(in),
          lease(board, clock, {.id = {}, .name = std::move(name), .address = "http://a"},
                {.lease_ms = lease_ms, .serves_on = serves_on, .read_on_ms = read_on_ms},
                {.newest = [this]() -> base::Result<Serial> {
                     WHEELYARD_TRY(cluster.table.reach());
                     return cluster.newest;
                 },
                 .show = [this](Serial) { is_publishing = true; },
                 .show_newest =
                     [this](std::function<void()> then) {
                         is_publishing = true;
                         after.push_back(std::move(then));
                     },
                 .is_awaited = [this] { return is_awaited; },
                 .others_show = [this](Serial serial) { others = serial; },
                 .is_writer = [this] { return is_writer; },
                 .sees_blobs = [this] { return sees_blobs; },
                 .is_any_connected =
                     [this](const std::vector<std::string>& addresses) {
                         asked = addresses;
                         return is_other_connected;
                     }}) {}

    void publish() {
        if (!is_publishing) return;
        is_publishing = false;
        lease.note_shown(cluster.newest);
        for (const auto& then : std::exchange(after, {}))
            then();
    }
    void join() {
        for (int i = 0; i < 4 && !lease.may_answer(); ++i) {
            lease.turn();
            publish();
        }
        REQUIRE(lease.may_answer());
    }
    void pass(std::int64_t ms) {  // with a living thread
        for (; ms > 0; ms -= 500) {
            cluster.time.sleep_ms(std::min<std::int64_t>(ms, 500));
            lease.turn();
        }
    }

    Cluster& cluster;
    nodes::MemoryBoard board{cluster.table};
    nodes::ManualNodeClock clock{cluster.time};
    bool is_publishing = false;
    bool is_awaited = false;
    bool is_writer = false;
    bool sees_blobs = true;
    bool is_other_connected = false;
    std::vector<std::string> asked;
    Serial others = -1;
    std::vector<std::function<void()>> after;
    nodes::NodeLease lease;
};

}  // namespace

TEST_CASE("a node that joins answers only after it shows what was committed when its row was there") {
    Cluster cluster;
    cluster.newest = 5;
    Node node(cluster);
    node.lease.turn();
    CHECK(node.lease.seen().state == LeaseState::away);
    CHECK(cluster.table.rows.empty());  // no upload waits for a node that still renders
    node.publish();
    node.lease.turn();
    CHECK(node.lease.seen().state == LeaseState::joining);
    CHECK(cluster.table.rows.size() == 1);
    CHECK_FALSE(node.lease.may_answer());
    cluster.newest = 6;  // answered by a writer that had not seen the row
    node.publish();
    node.lease.turn();
    CHECK(node.lease.seen().state == LeaseState::serving);
    CHECK(node.lease.may_answer());
    CHECK(cluster.table.rows.begin()->second.said.visible == 6);
}

TEST_CASE("a node that was stopped beyond its lease answers nothing, and joins again") {
    Cluster cluster;
    Node node(cluster);
    node.join();
    node.pass(10'000);
    CHECK(node.lease.may_answer());
    cluster.time.sleep_ms(lease_ms + 1);  // SIGSTOP: no turn
    CHECK_FALSE(node.lease.may_answer());
    cluster.newest = 9;
    node.lease.turn();
    CHECK_FALSE(node.lease.may_answer());
    CHECK(cluster.table.rows.empty());
    node.join();
    CHECK(cluster.table.rows.begin()->second.said.visible == 9);
    CHECK(node.lease.seen().lapses == 1);
}

TEST_CASE("the node's own end of its lease is before the database's") {
    Cluster cluster;
    Node node(cluster);
    node.join();
    cluster.time.sleep_ms(lease_ms - nodes::lease_margin_ms);
    CHECK_FALSE(node.lease.may_answer());
    CHECK(cluster.table.rows.begin()->second.until > cluster.time.now());
}

TEST_CASE("a node that cannot renew answers until its lease ends, then nothing, and joins after the outage") {
    Cluster cluster;
    Node node(cluster);
    node.join();
    cluster.table.is_down = true;
    node.pass(2'000);
    CHECK(node.lease.may_answer());
    CHECK(node.lease.seen().last_failure == "The database does not answer");
    node.pass(1'500);
    CHECK_FALSE(node.lease.may_answer());
    cluster.table.is_down = false;
    node.lease.turn();
    node.join();
    CHECK(node.lease.seen().last_failure.empty());
}

TEST_CASE("a wall clock that is set, or a machine that was frozen, ends the lease") {
    for (const bool is_frozen : {false, true}) {
        Cluster cluster;
        Node node(cluster);
        node.join();
        if (is_frozen) {
            cluster.time.sleep_ms(60'000);
            node.clock.behind_us = -60'000'000;  // CLOCK_BOOTTIME stood still
        } else {
            node.clock.wall_off_us = 3'600'000'000;
        }
        CHECK_FALSE(node.lease.may_answer());
        node.lease.turn();
        node.join();
    }
}

TEST_CASE("a lease that the database ended first is not taken for a live one") {
    Cluster cluster;
    Node node(cluster);
    node.join();
    cluster.table.rows.clear();  // as after a failover that lost the renewal
    cluster.newest = 3;
    cluster.time.sleep_ms(1'000);
    node.lease.turn();
    CHECK_FALSE(node.lease.may_answer());
    node.join();
    CHECK(cluster.table.rows.begin()->second.said.visible == 3);
}

TEST_CASE("a row that ended while the node joined does not count as there") {
    Cluster cluster;
    Node node(cluster);
    node.lease.turn();
    node.publish();
    node.lease.turn();
    node.publish();                       // shows the newest event
    cluster.time.sleep_ms(lease_ms + 1);  // stopped here: the row ends
    cluster.newest = 4;                   // and a writer that waits for nobody answers
    node.lease.turn();
    CHECK_FALSE(node.lease.may_answer());
    node.join();
    CHECK(cluster.table.rows.begin()->second.said.visible == 4);
}

TEST_CASE("in another database the serial of the pages counts for nothing until they were compared") {
    Cluster cluster;
    cluster.newest = 500;
    Node node(cluster);
    node.join();
    cluster.table.timeline = "7/00000002";
    cluster.newest = 301;
    cluster.time.sleep_ms(1'000);
    node.lease.turn();
    CHECK_FALSE(node.lease.may_answer());
    for (const auto& [id, row] : cluster.table.rows)
        CHECK(row.said.visible == 0);
    node.lease.forget_shown();  // the comparison found another history
    node.publish();
    node.join();
    CHECK(cluster.table.rows.begin()->second.said.visible == 301);
}

TEST_CASE("pages that are forgotten during a renewal are not answered with it") {
    Cluster cluster;
    Node node(cluster);
    node.join();
    node.lease.forget_shown();
    CHECK_FALSE(node.lease.may_answer());
}

TEST_CASE("an upload waits for every node with a live lease, and for a dead one as long as its lease") {
    Cluster cluster;
    cluster.newest = 1;
    Node writer(cluster, "w"), other(cluster, "o");
    writer.join();
    other.join();
    cluster.newest = 2;
    writer.lease.note_shown(2);
    writer.is_awaited = true;
    CHECK(writer.lease.turn() == nodes::board_poll_ms);
    CHECK(writer.others == 1);
    other.lease.note_shown(2);
    other.lease.turn();
    writer.lease.turn();
    CHECK(writer.others == 2);

    cluster.newest = 3;  // `other` was killed
    writer.lease.note_shown(3);
    writer.lease.turn();
    CHECK(writer.others == 2);
    writer.pass(lease_ms + 500);
    CHECK(writer.others == 3);
}

TEST_CASE("after a failover that lost the others' renewals an upload waits one lease") {
    Cluster cluster;
    Node writer(cluster, "w"), other(cluster, "o");
    writer.join();
    other.join();
    cluster.newest = 2;
    writer.is_awaited = true;
    cluster.table.timeline = "7/00000002";
    cluster.table.rows.clear();
    const auto turn = [&] {
        writer.lease.turn();
        writer.publish();
    };
    writer.lease.note_shown(2);
    turn();
    cluster.time.sleep_ms(1'000);
    turn();
    CHECK(other.lease.may_answer());  // it has not noticed
    for (int i = 0; i < 6; ++i)
        turn();
    CHECK(writer.others < 2);
    for (int i = 0; i < 8; ++i) {
        cluster.time.sleep_ms(500);
        turn();
    }
    CHECK_FALSE(other.lease.may_answer());
    CHECK(writer.others == 2);
}

TEST_CASE("where no other node is live, an upload waits for what its own node shows, and no more") {
    Cluster cluster;
    cluster.newest = 8;
    Node node(cluster);
    node.lease.note_shown(7);
    node.is_awaited = true;
    node.lease.turn();
    CHECK(node.others == 7);
}

TEST_CASE("a node learns from its renewals where writes go, and a clean stop leaves the board") {
    Cluster cluster;
    Node writer(cluster, "w"), other(cluster, "o");
    writer.is_writer = true;
    writer.join();
    other.join();
    REQUIRE(other.lease.seen().writer);
    CHECK(other.lease.seen().writer->name == "w");
    other.lease.stop();
    CHECK(cluster.table.rows.size() == 1);
    CHECK_FALSE(other.lease.may_answer());
}

TEST_CASE(
    "the only server's pages outlast the database, until it has seen another node or lost its history") {
    Cluster cluster;
    Node only(cluster, "only", true);
    only.lease.turn();
    CHECK_FALSE(only.lease.may_answer());
    only.join();
    only.pass(1'000);
    cluster.table.is_down = true;
    only.pass(10 * lease_ms);
    CHECK(only.lease.seen().state == LeaseState::away);
    CHECK(only.lease.may_answer());
    only.lease.forget_shown();
    CHECK_FALSE(only.lease.may_answer());

    cluster.table.is_down = false;
    only.join();
    only.pass(1'000);
    Node other(cluster, "other");
    other.join();
    only.pass(1'000);
    cluster.table.is_down = true;
    only.pass(lease_ms);
    CHECK_FALSE(only.lease.may_answer());
}

TEST_CASE("a node that lost its lease and then its sight of the wheels leaves the writer's role to others") {
    Cluster cluster;
    Node node(cluster, "a"), other(cluster, "b");
    node.join();
    other.join();
    cluster.time.sleep_ms(lease_ms + 1);  // the database was away
    other.join();
    other.pass(1'000);
    node.sees_blobs = false;
    cluster.newest = 4;
    for (std::int64_t ms = 0; ms <= lease_ms; ms += 500) {  // its run hangs
        CHECK_FALSE(node.lease.is_blind());
        node.lease.turn();
        other.pass(500);
    }
    CHECK(node.lease.is_blind());
    node.sees_blobs = true;
    node.join();
    CHECK_FALSE(node.lease.is_blind());
}

TEST_CASE("a node has left before it counts as lost, and so as shown, a file that others find") {
    for (const std::int64_t since_renewal_ms : {100, 500, 900}) {
        Cluster cluster;
        cluster.newest = 1;
        Node node(cluster, "a"), other(cluster, "b");
        node.join();
        other.join();
        const auto pass = [&](std::int64_t ms) {
            for (; ms > 0; ms -= 100) {
                cluster.time.sleep_ms(100);
                node.lease.turn();
                other.lease.turn();
            }
        };
        cluster.newest = 2;
        other.lease.note_shown(2);
        pass(since_renewal_ms);
        node.lease.note_troubles(0, true);
        pass(nodes::lost_after_ms(lease_ms));
        node.lease.note_troubles(1, false);
        node.lease.note_shown(2);
        node.lease.turn();
        CHECK_FALSE(node.lease.may_answer());
    }
}

TEST_CASE("nodes that may read without the database go on, say since when, and stop after their time") {
    Cluster cluster;
    Node node(cluster, "a", false, 60'000), other(cluster, "b", false, 60'000);
    other.join();
    node.join();
    node.pass(1'000);
    CHECK_FALSE(node.lease.outage());
    const base::UnixMicros last = cluster.time.now();
    cluster.table.is_down = true;
    for (int i = 0; i < 58; ++i) {
        node.pass(1'000);
        CHECK(node.lease.may_answer());
    }
    CHECK(node.asked == std::vector<std::string>{"http://a"});
    REQUIRE(node.lease.outage());
    CHECK(node.lease.outage()->since == last);
    CHECK(node.lease.outage()->until == last + 60'000'000);
    cluster.time.sleep_ms(2'001);  // also without a turn
    CHECK_FALSE(node.lease.may_answer());
    node.pass(1'000);
    CHECK_FALSE(node.lease.outage());
    cluster.table.is_down = false;
    node.lease.turn();
    node.join();
    CHECK_FALSE(node.lease.outage());
}

TEST_CASE("a node that reads without the database stops when it answers, before it has caught up") {
    Cluster cluster;
    Node node(cluster, "a", false, 60'000);
    node.join();
    cluster.table.is_down = true;
    node.pass(2 * lease_ms);
    CHECK(node.lease.may_answer());
    cluster.table.is_down = false;
    cluster.newest = 7;  // acknowledged by a node that was faster
    node.lease.turn();
    CHECK_FALSE(node.lease.may_answer());
    node.join();
    CHECK(cluster.table.rows.begin()->second.said.visible == 7);
}

TEST_CASE("a node that is cut off alone reads no longer than its lease, since others may have newer pages") {
    Cluster cluster;
    Node node(cluster, "a", false, 60'000);
    node.join();
    node.is_other_connected = true;
    cluster.table.is_down = true;
    node.pass(2'000);
    CHECK(node.lease.may_answer());
    node.pass(lease_ms);
    CHECK_FALSE(node.lease.may_answer());
    node.is_other_connected = false;  // it is cut off now, too
    node.lease.turn();
    CHECK(node.lease.may_answer());
}

TEST_CASE("a node that was stopped or frozen while it read asks again before it reads on") {
    Cluster cluster;
    Node node(cluster, "a", false, 600'000);
    node.join();
    cluster.table.is_down = true;
    node.pass(2 * lease_ms);
    node.clock.wall_off_us = 3'600'000'000;
    CHECK_FALSE(node.lease.may_answer());
    node.clock.wall_off_us = 0;
    CHECK(node.lease.may_answer());
    cluster.time.sleep_ms(nodes::reading_grant_ms + 1);
    CHECK_FALSE(node.lease.may_answer());
    node.lease.turn();
    CHECK(node.lease.may_answer());
}

TEST_CASE("only pages that the node had a lease for are read without the database") {
    const auto after = [](const std::function<void(Cluster&, Node&)>& change) {
        Cluster cluster;
        Node node(cluster, "a", false, 600'000);
        node.join();
        change(cluster, node);
        cluster.table.is_down = true;
        node.pass(2 * lease_ms);
        return node.lease.may_answer();
    };
    CHECK(after([](Cluster&, Node&) {}));
    CHECK_FALSE(after([](Cluster&, Node& node) { node.lease.forget_shown(); }));
    CHECK_FALSE(after([](Cluster&, Node& node) { node.lease.set_fit(false); }));
    CHECK_FALSE(after([](Cluster& cluster, Node& node) {  // others have acknowledged uploads meanwhile
        cluster.table.is_down = true;
        node.pass(2 * lease_ms);
        cluster.table.is_down = false;
        for (int i = 0; i < 4; ++i)
            node.lease.turn();
        CHECK(node.lease.seen().state == LeaseState::joining);
    }));
    CHECK_FALSE(after([](Cluster& cluster, Node& node) {  // of another history, perhaps
        cluster.table.timeline = "7/00000002";
        node.pass(1'000);
    }));
    // One that has not joined yet.
    Cluster cluster;
    Node node(cluster, "a", false, 600'000);
    node.lease.turn();
    node.publish();
    node.lease.turn();
    cluster.table.is_down = true;
    node.pass(2'000);
    CHECK_FALSE(node.lease.may_answer());
}

TEST_CASE("a node that cannot follow the others leaves them and answers nothing until it can") {
    Cluster cluster;
    Node node(cluster);
    node.join();
    node.lease.set_fit(false);
    CHECK_FALSE(node.lease.may_answer());
    node.lease.turn();
    CHECK(cluster.table.rows.empty());  // no upload waits for it
    CHECK(node.is_publishing);          // it tries again
    node.publish();
    node.lease.turn();
    CHECK(node.is_publishing);
    CHECK_FALSE(node.lease.may_answer());
    node.lease.set_fit(true);
    node.join();
}

TEST_CASE("a registry of one process always answers") {
    nodes::AloneBoard board;
    const nodes::SystemNodeClock clock;
    nodes::NodeLease lease(board, clock, {}, {}, {});
    lease.start();
    CHECK(lease.may_answer());
    CHECK(lease.seen().state == LeaseState::serving);
}

TEST_CASE("a command waits for every node with a live lease, and says when one does not follow") {
    Cluster cluster;
    cluster.newest = 5;
    Node node(cluster);
    node.join();
    nodes::MemoryBoard board(cluster.table);
    const std::int64_t began = cluster.time.now();
    REQUIRE(nodes::wait_shown(board, 5, cluster.time, 1'000));
    CHECK(cluster.time.now() == began);
    const auto late = nodes::wait_shown(board, 6, cluster.time, 1'000);
    REQUIRE_FALSE(late);
    CHECK(late.error().code == "node.others_lag");
    CHECK(nodes::wait_shown(board, 6, cluster.time, lease_ms));  // the node is dead: nothing renews its lease
    nodes::AloneBoard alone;
    CHECK(nodes::wait_shown(alone, 6, cluster.time, 0));
}

TEST_CASE("a server without an address starts only beside no other, and waits for one that was killed") {
    Cluster cluster;
    nodes::MemoryBoard board(cluster.table);
    const auto with = [&](const std::string& address) {
        cluster.table.rows.clear();
        nodes::NodeRow row{.id = "1", .name = "other", .address = address};
        REQUIRE(board.renew(row, lease_ms));
    };
    const auto start = [&](bool has_address, bool has_role, std::int64_t patience_ms) {
        const nodes::NodeRow mine{.id = "2", .name = "this", .address = has_address ? "http://this" : ""};
        return nodes::check_neighbours(
            board, mine, [&] { return has_role; }, cluster.time, patience_ms);
    };
    CHECK(start(true, false, 0));
    CHECK(start(false, true, 0));
    // Another one renders its first tree, or the database does not say who has the right to write.
    const auto waited = start(false, false, 1'000);
    CHECK(waited.error().code == "node.no_address");
    CHECK(waited.error().sentence.find("waited in vain for the right to write") != std::string::npos);
    with("http://other");
    CHECK(start(true, false, 0));
    const auto refused = start(false, true, lease_ms - 500);
    CHECK(refused.error().code == "node.no_address");
    CHECK(refused.error().sentence.find("one of the two has no address") != std::string::npos);
    CHECK(refused.error().value == "other");
    CHECK(start(false, true, lease_ms));  // nothing renews its lease
    with("");
    CHECK(start(false, true, 0));  // this one, before it was killed
    CHECK(start(false, false, 500).error().value == "other");
    CHECK(start(true, false, 500).error().value == "other");
    CHECK(start(true, false, lease_ms));
}

TEST_CASE("the time that the database takes to answer is part of a command's patience") {
    struct SlowBoard final : nodes::NodeBoard {
        explicit SlowBoard(base::Clock& the_time) : time(the_time) {}
        base::Result<nodes::Renewed> renew(const nodes::NodeRow&, std::int64_t) override {
            return nodes::Renewed{};
        }
        base::Status leave(const std::string&) override { return {}; }
        base::Result<Serial> lowest_visible(const std::string&) override {
            time.sleep_ms(400);
            return 1;
        }
        base::Result<std::vector<nodes::SeenNode>> nodes() override { return std::vector<nodes::SeenNode>(); }
        base::Clock& time;
    };
    base::ManualClock time(1'800'000'000'000'000);
    SlowBoard board(time);
    const std::int64_t began = time.now();
    CHECK(nodes::wait_shown(board, 2, time, 1'000).error().code == "node.others_lag");
    CHECK(time.now() - began < 1'500'000);
}

TEST_CASE("a node that has a value of its own where all share one is told which, and both") {
    const nodes::NodeRow mine{.id = "1",
                              .name = "a",
                              .address = "http://a",
                              .place = "one:/data",
                              .settings = {{"[node] lease_s", "6"}, {"the key of [attest]", "none"}}};
    const auto beside = [&](const std::function<void(nodes::NodeRow&)>& change) {
        nodes::NodeRow other = mine;
        other.id = "2";
        other.name = "b";
        other.address = "http://b";
        other.place = "two:/data";
        change(other);
        return nodes::check_alike(mine, {{other, lease_ms}});
    };
    CHECK(beside([](nodes::NodeRow&) {}));
    const auto lease = beside([](nodes::NodeRow& other) { other.settings["[node] lease_s"] = "60"; });
    CHECK(lease.error().code == "node.differs");
    CHECK(lease.error().text().find("node b in [node] lease_s") != std::string::npos);
    CHECK(lease.error().value == "here 6, there 60");
    CHECK(
        beside([](nodes::NodeRow& other) { other.settings["the key of [attest]"] = "f00"; }).error().value ==
        "here none, there f00");
    CHECK(beside([](nodes::NodeRow& other) { other.name = "a"; }).error().code == "node.same_name");
    CHECK(beside([](nodes::NodeRow& other) { other.address = "http://a"; }).error().code ==
          "node.same_address");
    // This node before it was killed, and one of a program that wrote no settings.
    CHECK(beside([](nodes::NodeRow& other) {
        other.name = "a";
        other.place = "one:/data";
        other.settings["[node] lease_s"] = "60";
    }));
    CHECK(beside([](nodes::NodeRow& other) {
        other.name = "a";
        other.settings.clear();
    }));
}

TEST_CASE(
    "tables of their files in which other nodes differ are listed, but for nodes that say nothing of them") {
    const nodes::NodeRow mine{
        .id = "1", .settings = {{"x", "1"}}, .tables = {{"[tasks]", "a"}, {"[[index]]", "b"}}};
    const auto beside = [&](const std::string& name, const nodes::SharedSettings& tables) {
        return nodes::SeenNode{{.id = name, .name = name, .settings = {{"x", "1"}}, .tables = tables},
                               lease_ms};
    };
    CHECK(nodes::list_differences(mine, {{mine, lease_ms}, beside("b", mine.tables)}).empty());
    CHECK(nodes::list_differences(
              mine, {beside("b", {{"[tasks]", "c"}}), beside("c", {{"[tasks]", "a"}, {"[[index]]", "c"}})}) ==
          "node b in [[index]], [tasks]; node c in [[index]]");
    const nodes::SeenNode older{{.id = "2", .name = "b", .settings = {{"x", "1"}}}, lease_ms};
    CHECK(nodes::list_differences(mine, {older}).empty());
}

TEST_CASE("of two that start at once and differ, none answers beside the other") {
    Cluster cluster;
    Node node(cluster);
    node.lease.turn();
    node.publish();
    const nodes::NodeRow other{
        .id = "2", .name = "a", .address = "http://b", .place = "two:/data", .settings = {{"x", "1"}}};
    nodes::MemoryBoard board(cluster.table);
    REQUIRE(board.renew(other, lease_ms));
    node.lease.turn();
    node.publish();
    node.lease.turn();
    CHECK_FALSE(node.lease.may_answer());
    CHECK(node.lease.seen().last_failure.find("under the name of this one") != std::string::npos);
    cluster.time.sleep_ms(lease_ms);
    node.join();
}

TEST_CASE("how far a node's clock is from the database's is known from its renewals") {
    constexpr std::int64_t minute_ms = 60'000;
    static_assert(nodes::max_clock_difference_ms == minute_ms);
    Cluster cluster;
    Node node(cluster);
    struct Row {
        std::int64_t ahead_ms;
        bool is_off;
    };
    for (const auto& [ahead_ms, is_off] :
         {Row{0, false}, Row{minute_ms, false}, Row{minute_ms + 1, true}, Row{minute_ms / 2 + 1, true},
          Row{minute_ms / 2, false}, Row{-90 * minute_ms, true}, Row{1, false}}) {
        CAPTURE(ahead_ms);
        node.clock.wall_off_us = ahead_ms * 1'000;
        node.pass(nodes::renewal_ms);  // the lease ends where the clock was set by more than its margin
        node.join();                   // and it is there again, whatever the time
        CHECK(node.lease.seen().clock_ahead_ms == ahead_ms);
        CHECK(node.lease.seen().is_clock_off == is_off);
    }
}

TEST_CASE(
    "a node that does not see files which another one shows leaves after a lease, and comes back with them") {
    Cluster cluster;
    Node blind(cluster), other(cluster, "b");
    blind.join();
    other.join();
    bool runs_fail = false;
    const auto pass = [&](std::int64_t ms) {
        for (; ms > 0; ms -= 500) {
            blind.pass(500);
            other.lease.turn();
            if (!runs_fail) blind.publish();
        }
    };
    SUBCASE("its store says that a blob is not there") {
        blind.lease.note_troubles(1, false);
    }
    SUBCASE("its store does not answer") {
        blind.sees_blobs = false;
    }
    SUBCASE("its runs fail") {
        runs_fail = true;
        cluster.newest = 7;
        other.lease.note_shown(7);
        blind.lease.note_troubles(0, true);
    }
    pass(lease_ms - 500);
    CHECK(blind.lease.may_answer());
    pass(2'000);
    CHECK_FALSE(blind.lease.may_answer());
    CHECK(blind.lease.is_blind());
    CHECK(blind.lease.seen().last_failure == "Other nodes show files that this one cannot");
    CHECK(cluster.table.rows.size() == 1);  // no upload waits for it
    CHECK(other.lease.may_answer());
    pass(lease_ms);
    CHECK_FALSE(blind.lease.may_answer());
    blind.sees_blobs = true;
    runs_fail = false;
    blind.lease.note_troubles(0, false);
    blind.lease.note_shown(cluster.newest);
    pass(1'500);
    CHECK(blind.lease.may_answer());
}

TEST_CASE(
    "the time of a run that fails counts from when another node showed more, a slow run is waited for") {
    Cluster cluster;
    Node slow(cluster), other(cluster, "b");
    slow.join();
    other.join();
    cluster.newest = 7;
    other.lease.note_shown(7);
    for (int i = 0; i < 10; ++i) {
        slow.pass(500);
        other.lease.turn();
    }
    CHECK(slow.lease.may_answer());
    slow.lease.note_troubles(0, true);
    slow.pass(nodes::renewal_ms);
    CHECK_FALSE(slow.lease.may_answer());
    CHECK(slow.lease.is_blind());
}

TEST_CASE("what no node sees takes none away") {
    Cluster cluster;
    Node a(cluster), b(cluster, "b");
    a.join();
    b.join();
    for (Node* node : {&a, &b})
        node->lease.note_troubles(2, true);
    for (int i = 0; i < 20; ++i) {
        a.pass(500);
        b.lease.turn();
    }
    CHECK(a.lease.may_answer());
    CHECK(b.lease.may_answer());
    // The last one answers, whatever it lacks.
    b.lease.stop();
    a.lease.note_troubles(5, true);
    a.pass(3 * lease_ms);
    CHECK(a.lease.may_answer());
}
