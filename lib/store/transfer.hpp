// A whole catalog from one engine into another: one snapshot, row by row, so that a backup has one format.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/store/engine/postgres/postgres.hpp"

namespace wheelyard::database {

// A table of the catalog. `numbers` and `texts`: names of columns, with commas. A column that may be NULL
// (engine::may_be_null()) is copied as its empty text.
struct CopiedTable {
    std::string_view name;
    std::string_view order;  // of the key
    std::string numbers;
    std::string texts;
};
// Every table of every engine (tests compare), each after those that it refers to.
[[nodiscard]] std::vector<CopiedTable> copied_tables();

// `file` must not exist; durable when it returns.
[[nodiscard]] base::Status copy_to_file(const postgres::Target& from, const std::filesystem::path& file);
// One transaction into a database without a catalog, or with one in which nothing has happened:
// "backup.store_there". `file` has the newest schema.
[[nodiscard]] base::Status copy_from_file(const std::filesystem::path& file, const postgres::Target& to);
// The same refusal before the work.
[[nodiscard]] base::Status check_empty(const postgres::Target& target);

}  // namespace wheelyard::database
