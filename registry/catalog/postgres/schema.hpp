#pragma once

#include <span>

namespace wheelyard::catalog {

// steps[N - 1] leads from version N - 1 to N.
[[nodiscard]] std::span<const char* const> postgres_schema_steps();

}  // namespace wheelyard::catalog
