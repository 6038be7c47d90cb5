// Tasks as queries of the task database have them: the columns, how a row is read, a set of names as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/wire/task.hpp"
#include "registry/catalog/sqlite.hpp"

namespace wheelyard::tasks {

// Tasks with what their latest lease says. `which`: what follows FROM, of the tables `task` and `lease`.
[[nodiscard]] std::string select_whole(std::string_view which);
// The same without outcomes, which have up to 64 KiB: for many at once.
[[nodiscard]] std::string select_rows(std::string_view which);

// The current row of one of these.
[[nodiscard]] wire::Task task_of(const catalog::Statement& row);

// Whether a column is one of `names` (nullopt: any), for "(? OR column IN (SELECT value FROM json_each(?)))".
struct SqlSet {
    explicit SqlSet(const std::optional<std::vector<std::string>>& names);
    std::int64_t has_all;
    std::string json;
};

}  // namespace wheelyard::tasks
