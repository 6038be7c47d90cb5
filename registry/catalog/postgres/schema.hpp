// The catalog's schema in PostgreSQL, one migration a version (registry/postgres/migration.hpp).
#pragma once

#include "registry/postgres/migration.hpp"

namespace wheelyard::catalog {

[[nodiscard]] postgres::Schema postgres_schema();

}  // namespace wheelyard::catalog
