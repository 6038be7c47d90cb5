// Brings the tables of one part of a database to the schema of this program, as registry/sqlite/migration.hpp does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/postgres/postgres.hpp"

namespace wheelyard::postgres {

// `steps[N - 1]` leads to version N, which the table `schema_version` keeps for each part ("catalog", "tasks"). All
// missing steps are one transaction. "catalog.too_new": a newer program has migrated it. "store.encoding".
[[nodiscard]] base::Status migrate(const Database& database, std::string_view part,
                                   std::span<const char* const> steps);
// nullopt: the database has no such part.
[[nodiscard]] base::Result<std::optional<std::int64_t>> schema_version(const Database& database,
                                                                       std::string_view part);
// For readers: "catalog.missing", "catalog.too_old" or "catalog.too_new" unless it is exactly version `newest`.
[[nodiscard]] base::Status check_schema_version(const Database& database, std::string_view part,
                                                std::int64_t newest);
// Commits a transaction that changes no content: fails where a real change would.
[[nodiscard]] base::Status try_write(const Database& database, std::string_view part, std::int64_t lock);

}  // namespace wheelyard::postgres
