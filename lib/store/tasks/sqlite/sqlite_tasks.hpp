// The task queue in an SQLite file. Only lib/store/ opens one.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "lib/base/result.hpp"
#include "lib/store/tasks/build_rows.hpp"
#include "lib/store/tasks/task_rows.hpp"

namespace wheelyard::tasks {

// Creates the file if it is missing, and migrates an older schema.
[[nodiscard]] base::Result<std::unique_ptr<TaskRows>> open_sqlite_tasks(const std::filesystem::path& file);
// The builds, beside the queue in the same database.
[[nodiscard]] base::Result<std::unique_ptr<BuildRows>> open_sqlite_builds(const std::filesystem::path& file);
// The schema, one migration a version (lib/store/engine/sqlite/sqlite.hpp).
[[nodiscard]] std::span<const char* const> schema_steps();
// As that of the catalog (lib/store/catalog/sqlite/sqlite_catalog.hpp).
inline constexpr std::int64_t oldest_program = 5;

}  // namespace wheelyard::tasks
