// Before a server takes part: whether it and those that run over its database can be nodes together. One without an address
// can only be alone, since nothing can be passed on to it.
#pragma once

#include <cstdint>
#include <functional>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/nodes/node_board.hpp"

namespace wheelyard::nodes {

// `has_role`: of a server without an address, whether it has the writer's lock, which only one of them gets. One that was
// killed is waited for: the rest of its lease, and until the database has noticed. "node.no_address": it still runs.
[[nodiscard]] base::Status check_neighbours(NodeBoard& board, bool has_address,
                                            const std::function<bool()>& has_role, base::Clock& clock,
                                            std::int64_t patience_ms);

}  // namespace wheelyard::nodes
