#include "registry/nodes/neighbours.hpp"

#include <algorithm>
#include <string>
#include <vector>

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
        // Of its own kind, it may be the row of this server before it was killed.
        if (other_kind == seen.end() && (has_address || has_role())) return {};
        if (waited_ms >= patience_ms)
            return base::fail(
                "node.no_address",
                "Another server runs over this database, and one of the two has no address",
                other_kind != seen.end() ? other_kind->row.name
                : seen.empty()           ? std::string()
                                         : seen.front().row.name,
                "stop the other one, or give each its own [node] address, as for several nodes");
        clock.sleep_ms(pause_ms);
    }
}

}  // namespace wheelyard::nodes
