// A whole catalog from one engine into another: one snapshot, row by row, so that a backup has one format.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"
#include "registry/engine/postgres/postgres.hpp"

namespace wheelyard::database {

// `file` must not exist; durable when it returns.
[[nodiscard]] base::Status copy_to_file(const postgres::Target& from, const std::filesystem::path& file);
// One transaction into a database without a catalog, or with one in which nothing has happened: "backup.store_there".
// `file` has the newest schema.
[[nodiscard]] base::Status copy_from_file(const std::filesystem::path& file, const postgres::Target& to);
// The same refusal before the work.
[[nodiscard]] base::Status check_empty(const postgres::Target& target);

}  // namespace wheelyard::database
