#include "registry/nodes/wait_shown.hpp"

#include <string>

#include "registry/nodes/limits.hpp"

namespace wheelyard::nodes {

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
