// A catalog in an SQLite file. Only lib/store/ opens one.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::catalog {

// read_write creates the file and its schema, and migrates older schemas; read_only needs them there.
// alone: as read_write, for a file that no other process opens and that will be renamed: SQLite keeps no
// files beside it.
enum class SqliteMode { read_write, read_only, alone };
[[nodiscard]] base::Result<std::unique_ptr<Catalog>> open_sqlite_catalog(const std::filesystem::path& file,
                                                                         SqliteMode mode);
// index_list() of a file that may be missing, or have an older schema.
[[nodiscard]] base::Result<std::string> read_sqlite_index_list(const std::filesystem::path& file);
// A consistent copy, made while others write; durable when it returns. `to` must not exist.
[[nodiscard]] base::Status copy_sqlite_catalog(const std::filesystem::path& file,
                                               const std::filesystem::path& to);
// The schema, one migration a version (lib/store/engine/sqlite/sqlite.hpp).
[[nodiscard]] std::span<const char* const> schema_steps();
// A step that only adds tables, indexes, or columns with a default leaves it as it is; any other one raises
// it to its own number.
inline constexpr std::int64_t oldest_program = 7;

}  // namespace wheelyard::catalog
