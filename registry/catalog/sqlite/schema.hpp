// The catalog's schema, one migration a version (registry/sqlite/migration.hpp).
#pragma once

#include <span>

namespace wheelyard::catalog {

[[nodiscard]] std::span<const char* const> schema_steps();

}  // namespace wheelyard::catalog
