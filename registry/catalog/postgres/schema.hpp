// The catalog's schema in PostgreSQL, one migration a version (registry/postgres/migration.hpp).
#pragma once

#include <span>

namespace wheelyard::catalog {

[[nodiscard]] std::span<const char* const> postgres_schema_steps();

}  // namespace wheelyard::catalog
