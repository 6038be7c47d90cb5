// The boards of the nodes, of the nodes themselves and of the sites' reports, in PostgreSQL. Each function
// connects at once and makes its tables where they are missing. The connections must be direct: a pool that
// shares sessions gives one lock to several nodes.
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "lib/store/nodes/report_board.hpp"

namespace wheelyard::nodes {

[[nodiscard]] base::Result<std::unique_ptr<NodeBoard>> open_postgres_board(const postgres::Target& target);
[[nodiscard]] base::Result<std::unique_ptr<WriterLock>> open_postgres_lock(const postgres::Target& target);
[[nodiscard]] base::Result<std::unique_ptr<ReportBoard>> open_postgres_reports(
    const postgres::Target& target);

}  // namespace wheelyard::nodes
