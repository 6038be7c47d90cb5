// A catalog in a PostgreSQL database. Only lib/store/ opens one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/engine/postgres/postgres.hpp"

namespace wheelyard::catalog {

// The advisory lock of each transaction that changes the catalog.
inline constexpr std::int64_t postgres_writer_lock = 0x57594341;  // "WYCA"

// read_write makes the tables, and migrates older ones; read_only needs them there.
[[nodiscard]] base::Result<std::unique_ptr<Catalog>> open_postgres_catalog(const postgres::Target& target,
                                                                           postgres::Database::Mode mode);
// An error if the database cannot be reached or has no catalog ("catalog.missing").
[[nodiscard]] base::Status find_postgres_catalog(const postgres::Target& target);
// index_list() of a database that may have no catalog.
[[nodiscard]] base::Result<std::string> read_postgres_index_list(const postgres::Target& target);
// The schema, one migration a version.
[[nodiscard]] postgres::Schema postgres_schema();

}  // namespace wheelyard::catalog
