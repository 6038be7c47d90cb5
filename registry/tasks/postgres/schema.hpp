// The task queue's schema in PostgreSQL, one migration a version (registry/postgres/migration.hpp).
#pragma once

#include <span>

namespace wheelyard::tasks {

[[nodiscard]] std::span<const char* const> postgres_schema_steps();

}  // namespace wheelyard::tasks
