// What a server asks of the board: before it takes part, and after a change beside it.
#include "registry/nodes/node_board.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "registry/nodes/limits.hpp"

namespace wheelyard::nodes {
namespace {

constexpr std::int64_t pause_ms = 100;

}  // namespace

base::Status check_neighbours(NodeBoard& board, bool has_address, const std::function<bool()>& has_role,
                              base::Clock& clock, std::int64_t patience_ms) {
    // Counted by its pauses, so that a clock that is set does not shorten it.
    for (std::int64_t waited_ms = 0;; waited_ms += pause_ms) {
        WHEELYARD_ASSIGN(const std::vector<SeenNode> seen, board.nodes());
        const auto other_kind = std::find_if(seen.begin(), seen.end(), [has_address](const SeenNode& node) {
            return node.row.address.empty() == has_address;
        });
        // A row of its own kind may be that of this server before it was killed.
        if (other_kind == seen.end() && (has_address || has_role())) return {};
        if (waited_ms >= patience_ms)
            return base::fail(
                "node.no_address",
                seen.empty() ? "This server waited in vain for the right to write: another one holds it, or "
                               "the database does not answer"
                : other_kind == seen.end()
                    ? "Another server runs over this database, and neither of the two has an address"
                    : "Another server runs over this database, and one of the two has no address",
                other_kind != seen.end() ? other_kind->row.name
                : seen.empty()           ? std::string()
                                         : seen.front().row.name,
                "stop the other one, or give each its own [node] address, as for several nodes");
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
