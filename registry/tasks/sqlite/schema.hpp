// The task database's schema, one migration a version (as registry/sqlite/migration.hpp).
#pragma once

#include <span>

namespace wheelyard::tasks {

[[nodiscard]] std::span<const char* const> schema_steps();

}  // namespace wheelyard::tasks
