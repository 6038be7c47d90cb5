// The board of the nodes: one row for each running `serve` over a database, with the end of its lease by the
// database's clock, and the newest event that its pages show. Nodes do not talk to each other about this;
// they read and write rows.
//
//     node(id, name, address, lease_until, visible_serial, is_writer, place, settings, lost)
//
// The rule that the board is for: after the commit of n, the writer answers when every node with a live lease
// shows n. A node that answers only while its own lease lives can therefore give no page from before an
// answered upload.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::nodes {

using Serial = std::int64_t;  // of the catalog's event log
inline constexpr Serial none_is_live = std::numeric_limits<Serial>::max();

// What a node was started with and all have to have alike, by what a message calls it: "[node] lease_s" ->
// "6".
using SharedSettings = std::map<std::string, std::string>;

// What a node says of itself.
struct NodeRow {
    std::string id = {};       // of this run of the process: random
    std::string name = {};     // for people
    std::string address = {};  // where other nodes send writes: "http://node-a.example:8080"; empty: nowhere
    Serial visible = 0;        // its pages show every event up to this one
    bool is_writer = false;
    // The timeline of the database, as the node last saw it. In another one `visible` means nothing, and 0 is
    // written instead.
    std::string timeline = {};
    std::string place = {};        // machine and data folder: two runs there follow each other
    SharedSettings settings = {};  // empty: of an older program
    // Digests of the tables of its configuration file, as far as all should have them alike: "[tasks]" ->
    // "5f3a9c01".
    SharedSettings tables = {};
    std::int64_t lost = 0;  // its pages that lack a blob which it does not find
};
struct WritingNode {
    std::string id;
    std::string name;
    std::string address;
};
struct Renewed {
    bool was_live = false;      // the row was there, and its lease had not ended
    std::string timeline = {};  // of the database: another one after a failover
    base::UnixMicros time = 0;  // by the database's clock
    std::optional<WritingNode> writer = {};
    // Of the other nodes with a live lease; none: there are none.
    std::optional<Serial> most_visible = {};
    std::optional<std::int64_t> least_lost = {};
};
struct SeenNode {
    NodeRow row;
    std::int64_t lease_left_ms = 0;
};

// One connection, for one thread at a time. Every call fails within a few seconds if the database does not
// answer.
class NodeBoard {
  public:
    virtual ~NodeBoard() = default;
    // No other process can use this database: nothing is renewed, and nobody is waited for.
    [[nodiscard]] virtual bool is_alone() const { return false; }
    // Durable on return. The lease ends `lease_ms` after the database's time at the renewal.
    [[nodiscard]] virtual base::Result<Renewed> renew(const NodeRow& row, std::int64_t lease_ms) = 0;
    [[nodiscard]] virtual base::Status leave(const std::string& id) = 0;
    // The least of what nodes with a live lease show; none_is_live: there are none; 0: the database has
    // another timeline (empty: any).
    [[nodiscard]] virtual base::Result<Serial> lowest_visible(const std::string& timeline) = 0;
    // With a live lease; sorted by name.
    [[nodiscard]] virtual base::Result<std::vector<SeenNode>> nodes() = 0;
};

// The lock that one node holds: who has it writes. The database frees it when the connection ends, or has
// been idle for writer_idle_ms.
class WriterLock {
  public:
    struct Kept {
        bool is_held = false;
        // Renewals of other nodes may be lost: the database was failed over since the last writer wrote. One
        // lease has to pass before the board tells the truth again.
        bool is_after_failover = false;
        bool is_for_good = false;  // nobody else can ever take it
    };
    virtual ~WriterLock() = default;
    // Takes the lock if it is free; if this connection holds it already, shows the database that it lives.
    // After an error it is not held.
    [[nodiscard]] virtual base::Result<Kept> take_or_keep() = 0;
    // The lease after a failover has passed.
    [[nodiscard]] virtual base::Status note_waited() = 0;
    [[nodiscard]] virtual base::Status release() = 0;
};

// The board and the lock of a database that only one `serve` can use.
class AloneBoard final : public NodeBoard {
  public:
    [[nodiscard]] bool is_alone() const override { return true; }
    [[nodiscard]] base::Result<Renewed> renew(const NodeRow&, std::int64_t) override {
        return Renewed{.was_live = true};
    }
    [[nodiscard]] base::Status leave(const std::string&) override { return {}; }
    [[nodiscard]] base::Result<Serial> lowest_visible(const std::string&) override { return none_is_live; }
    [[nodiscard]] base::Result<std::vector<SeenNode>> nodes() override { return std::vector<SeenNode>(); }
};

class AloneLock final : public WriterLock {
  public:
    [[nodiscard]] base::Result<Kept> take_or_keep() override {
        return Kept{.is_held = true, .is_for_good = true};
    }
    [[nodiscard]] base::Status note_waited() override { return {}; }
    [[nodiscard]] base::Status release() override { return {}; }
};

// Says whether a node may run beside the others: each has a name and an address of its own, and what all
// share is alike. An earlier run at its place is none of the others. "node.same_name", "node.same_address",
// "node.differs", with both values.
[[nodiscard]] base::Status check_alike(const NodeRow& mine, const std::vector<SeenNode>& seen);

// Which nodes have other tables than this one: "node b in [tasks], [[index]]". Empty: none has.
[[nodiscard]] std::string list_differences(const NodeRow& mine, const std::vector<SeenNode>& seen);

// Before a server takes part: whether it and those that run over its database can be nodes together. One
// without an address can only be alone, since nothing can be passed on to it. `has_role`: of a server without
// an address, whether it has the writer's lock, which only one of them gets. One that was killed is waited
// for: the rest of its lease, and until the database has noticed. "node.no_address": it still runs; or an
// error of check_alike().
[[nodiscard]] base::Status check_neighbours(NodeBoard& board, const NodeRow& mine,
                                            const std::function<bool()>& has_role, base::Clock& clock,
                                            std::int64_t patience_ms);

// For what changes the catalog beside the nodes, as a command does: returns when every node with a live lease
// shows `serial`. "node.others_lag": not within the time.
[[nodiscard]] base::Status wait_shown(NodeBoard& board, Serial serial, base::Clock& clock,
                                      std::int64_t patience_ms);

}  // namespace wheelyard::nodes
