// Brings a database to the schema of this program: one migration a version, each in a transaction of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/engine/sqlite/sqlite.hpp"

namespace wheelyard::sqlite {

// `steps[N - 1]` leads to version N (PRAGMA user_version). "catalog.too_new": a newer program has migrated it, and this one
// cannot go on with that. `what` names the database to people.
//
// `oldest_program`: the oldest version whose programs can go on with the newest one, as in registry/engine/postgres/migration.hpp;
// 0: none. It is kept with the version (PRAGMA application_id), so that who takes back an upgrade keeps what came since.
[[nodiscard]] base::Status migrate(const Database& database, std::span<const char* const> steps,
                                   std::string_view what = "catalog", std::int64_t oldest_program = 0);
// For readers: "catalog.too_old" or "catalog.too_new" unless this program, whose version is `newest`, can use it.
[[nodiscard]] base::Status check_schema_version(const Database& database, std::int64_t newest);
// Commits a transaction that sets the version again, which changes no content: fails where a real change would.
[[nodiscard]] base::Status try_write(const Database& database);

}  // namespace wheelyard::sqlite
