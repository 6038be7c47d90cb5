// The task queue's schema in PostgreSQL, one migration a version (registry/postgres/migration.hpp).
#pragma once

#include "registry/postgres/migration.hpp"

namespace wheelyard::tasks {

[[nodiscard]] postgres::Schema postgres_schema();

}  // namespace wheelyard::tasks
