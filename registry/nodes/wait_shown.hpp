// For what changes the catalog beside the nodes, as a command does.
#pragma once

#include <cstdint>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/nodes/node_board.hpp"

namespace wheelyard::nodes {

// Returns when every node with a live lease shows `serial`. "node.others_lag": not within the time.
[[nodiscard]] base::Status wait_shown(NodeBoard& board, Serial serial, base::Clock& clock,
                                      std::int64_t patience_ms);

}  // namespace wheelyard::nodes
