// Brings the tables of one part of a database to the schema of this program, as registry/engine/sqlite/migration.hpp does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/engine/postgres/postgres.hpp"

namespace wheelyard::postgres {

// While nodes are upgraded one after the other, the newer ones migrate the tables that the older ones use: a program may
// use a newer schema than it knows, if that schema says so.
struct Schema {
    std::span<const char* const> steps;  // `steps[N - 1]` leads to version N
    // The oldest version whose programs can go on with the newest one. A step that only adds tables, indexes, or columns with
    // a default leaves it as it is; any other one raises it to its own number, and is refused while a node runs.
    std::int64_t oldest_program = 1;
    [[nodiscard]] std::int64_t newest() const { return static_cast<std::int64_t>(steps.size()); }
};

// The table `schema_version` keeps the version of each part ("catalog", "tasks"). All missing steps are one transaction.
// "catalog.too_new": a newer program has migrated it, and this one cannot go on with that. "catalog.in_use": a step needs
// that no node runs. "store.encoding".
[[nodiscard]] base::Status migrate(const Database& database, std::string_view part, const Schema& schema);
// nullopt: the database has no such part.
[[nodiscard]] base::Result<std::optional<std::int64_t>> schema_version(const Database& database,
                                                                       std::string_view part);
// For readers: "catalog.missing", "catalog.too_old" or "catalog.too_new" unless this program can use it.
[[nodiscard]] base::Status check_schema_version(const Database& database, std::string_view part,
                                                const Schema& schema);
// Commits a transaction that changes no content: fails where a real change would.
[[nodiscard]] base::Status try_write(const Database& database, std::string_view part, std::int64_t lock);

}  // namespace wheelyard::postgres
