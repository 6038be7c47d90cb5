// The board of the nodes in PostgreSQL. Both functions connect at once and make the tables where they are missing. The
// connections must be direct: a pool that shares sessions gives one lock to several nodes.
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "registry/nodes/node_board.hpp"
#include "registry/postgres/postgres.hpp"

namespace wheelyard::nodes {

[[nodiscard]] base::Result<std::unique_ptr<NodeBoard>> open_postgres_board(const postgres::Target& target);
[[nodiscard]] base::Result<std::unique_ptr<WriterLock>> open_postgres_lock(const postgres::Target& target);

}  // namespace wheelyard::nodes
