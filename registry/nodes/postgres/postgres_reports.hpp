// The board of the sites' reports in PostgreSQL. Connects at once and makes its table where it is missing.
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "registry/nodes/report_board.hpp"
#include "registry/postgres/postgres.hpp"

namespace wheelyard::nodes {

[[nodiscard]] base::Result<std::unique_ptr<ReportBoard>> open_postgres_reports(
    const postgres::Target& target);

}  // namespace wheelyard::nodes
