// Converts the wheels of an answer to the rows of a table.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/query/query.hpp"

namespace wheelyard::avail_wheels {

// The Alliance's eight columns, then the result for a node (runs, why, advice) and the modules that the wheel
// was built against.
inline constexpr std::array<std::string_view, 12> all_columns{"name",   "version", "localversion", "build",
                                                              "python", "abi",     "platform",     "arch",
                                                              "runs",   "why",     "advice",       "modules"};
inline constexpr std::array<std::string_view, 4> default_columns{"name", "version", "python", "arch"};

using Row = std::vector<std::string>;

// The cell of one wheel in one of all_columns. `version` is the public version, without the local part.
[[nodiscard]] std::string cell(const Candidate& candidate, std::string_view column);

struct RowOptions {
    std::vector<std::string> columns;
    // One row per project; the distinct values of a column are joined by ", ", greatest first.
    bool condense = false;
    bool not_available = false;  // adds a row for each name without a wheel
    bool not_available_only = false;
};

// Equal rows are merged.
[[nodiscard]] std::vector<Row> make_rows(const Answer& answer, const RowOptions& options);

}  // namespace wheelyard::avail_wheels
