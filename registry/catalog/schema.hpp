// The catalog's schema, one migration a version.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/catalog/sqlite.hpp"

namespace wheelyard::catalog {

// The version that this program writes and reads (PRAGMA user_version).
[[nodiscard]] std::int64_t newest_schema_version();
// Brings a new or older catalog to the newest version, one transaction a step. "catalog.too_new": a newer
// program has written it.
[[nodiscard]] base::Status migrate(const Database& database);
// The same for another database of the registry: `steps[N - 1]` leads to its version N; `what` names it to people.
[[nodiscard]] base::Status migrate(const Database& database, std::span<const char* const> steps,
                                   std::string_view what = "database");
// For readers: "catalog.too_old" or "catalog.too_new" unless it is exactly the newest version.
[[nodiscard]] base::Status check_schema_version(const Database& database);
// Commits a transaction that sets the version again, which changes no content: fails where a real change would.
[[nodiscard]] base::Status try_write(Database& database);

}  // namespace wheelyard::catalog
