// What a server asks of the board: before it takes part, and after a change beside it.
#include "lib/store/nodes/node_board.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/store/nodes/limits.hpp"

namespace wheelyard::nodes {
namespace {

constexpr std::int64_t pause_ms = 100;

// A server without an address beside another one.
base::Error no_address(const std::vector<SeenNode>& seen, const SeenNode* other_kind) {
    const char* const why =
        seen.empty() ? "This server waited in vain for the right to write: another one holds it, or the "
                       "database does not answer"
        : other_kind == nullptr
            ? "Another server runs over this database, and neither of the two has an address"
            : "Another server runs over this database, and one of the two has no address";
    return {"node.no_address", why,
            other_kind != nullptr ? other_kind->row.name
            : seen.empty()        ? std::string()
                                  : seen.front().row.name,
            "stop the other one, or give each its own [node] address, as for several nodes"};
}

}  // namespace

base::Status check_alike(const NodeRow& mine, const std::vector<SeenNode>& seen) {
    for (const SeenNode& each : seen) {
        const NodeRow& other = each.row;
        const bool is_earlier_run = other.place == mine.place && other.name == mine.name;
        if (other.id == mine.id || is_earlier_run || other.settings.empty()) continue;
        const bool are_several = !other.address.empty() && !mine.address.empty();
        if (other.name == mine.name && are_several)
            return base::fail("node.same_name", "Another node runs under the name of this one",
                              mine.name + ", at " + other.place + " and at " + mine.place,
                              "give each node a [node] name of its own");
        if (other.address == mine.address && are_several)
            return base::fail("node.same_address", "Node " + other.name + " has the address of this one",
                              mine.address, "[node] address is where the other nodes reach this one");
        for (const auto& [name, value] : mine.settings) {
            const auto theirs = other.settings.find(name);
            if (theirs == other.settings.end() || theirs->second == value) continue;
            return base::fail("node.differs", "This node differs from node " + other.name + " in " + name,
                              "here " + value + ", there " + theirs->second,
                              "give both the same; to change it, stop all nodes first");
        }
    }
    return {};
}

std::string list_differences(const NodeRow& mine, const std::vector<SeenNode>& seen) {
    std::string nodes;
    for (const SeenNode& each : seen) {
        const NodeRow& other = each.row;
        // A program of before compares no tables.
        if (other.id == mine.id || other.settings.empty() || other.tables.empty()) continue;
        std::set<std::string> tables;
        const auto add = [&tables](const SharedSettings& some, const SharedSettings& others) {
            for (const auto& [table, digest] : some) {
                const auto found = others.find(table);
                if (found == others.end() || found->second != digest) tables.insert(table);
            }
        };
        add(mine.tables, other.tables);
        add(other.tables, mine.tables);
        if (tables.empty()) continue;
        nodes += (nodes.empty() ? "node " : "; node ") + other.name + " in ";
        nodes += base::join(std::vector<std::string>(tables.begin(), tables.end()), ", ");
    }
    return nodes;
}

base::Status check_neighbours(NodeBoard& board, const NodeRow& mine, const std::function<bool()>& has_role,
                              base::Clock& clock, std::int64_t patience_ms) {
    const bool has_address = !mine.address.empty();
    // Counted by its pauses, so that a clock that is set does not shorten it.
    for (std::int64_t waited_ms = 0;; waited_ms += pause_ms) {
        WHEELYARD_ASSIGN(const std::vector<SeenNode> seen, board.nodes());
        const auto other_kind = std::find_if(seen.begin(), seen.end(), [has_address](const SeenNode& node) {
            return node.row.address.empty() == has_address;
        });
        const bool is_one_kind = other_kind == seen.end();
        base::Status alike = check_alike(mine, seen);
        // A row of its own kind may be that of this server before it was killed.
        if (is_one_kind && alike && (has_address || has_role())) return {};
        if (waited_ms >= patience_ms)
            return !is_one_kind || alike ? base::fail(no_address(seen, is_one_kind ? nullptr : &*other_kind))
                                         : alike;
        clock.sleep_ms(pause_ms);
    }
}

base::Status wait_shown(NodeBoard& board, Serial serial, base::Clock& clock, std::int64_t patience_ms) {
    const base::UnixMicros end = clock.now() + patience_ms * 1'000;
    while (true) {
        WHEELYARD_ASSIGN(const Serial lowest, board.lowest_visible({}));
        if (lowest >= serial) return {};
        if (clock.now() >= end)
            return base::fail("node.others_lag", "Another node does not show the change yet",
                              "the least that one shows is serial " + std::to_string(lowest) + " of " +
                                  std::to_string(serial),
                              "see wheelyard_publish_lag_seconds of each node; stop one that cannot follow");
        clock.sleep_ms(board_poll_ms);
    }
}

}  // namespace wheelyard::nodes
