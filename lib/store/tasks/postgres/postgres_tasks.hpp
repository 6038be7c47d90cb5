// The task queue in a PostgreSQL database. Only lib/store/ opens one.
#pragma once

#include <memory>

#include "lib/base/result.hpp"
#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/tasks/build_rows.hpp"
#include "lib/store/tasks/task_rows.hpp"

namespace wheelyard::tasks {

// Makes the tables where there are none, and migrates older ones.
[[nodiscard]] base::Result<std::unique_ptr<TaskRows>> open_postgres_tasks(const postgres::Target& target);
// The builds, beside the queue in the same database.
[[nodiscard]] base::Result<std::unique_ptr<BuildRows>> open_postgres_builds(const postgres::Target& target);
// The schema, one migration a version.
[[nodiscard]] postgres::Schema postgres_schema();

}  // namespace wheelyard::tasks
