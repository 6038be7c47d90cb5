// From the wheels of an answer to the rows of a table.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/query/query.hpp"

namespace wheelyard::avail_wheels {

// The Alliance's eight, and what a node was asked: whether it runs, why not, what to do; and the modules that
// it was built against.
inline constexpr std::array<std::string_view, 12> all_columns{"name",   "version", "localversion", "build",
                                                              "python", "abi",     "platform",     "arch",
                                                              "runs",   "why",     "advice",       "modules"};
inline constexpr std::array<std::string_view, 4> default_columns{"name", "version", "python", "arch"};

using Row = std::vector<std::string>;

// One of all_columns, of one wheel. `version` is the public version; the local part is a column of its own.
[[nodiscard]] std::string cell(const Candidate& candidate, std::string_view column);

struct RowOptions {
    std::vector<std::string> columns;
    bool condense =
        false;  // one row a project, the different values of a column joined by ", ", greatest first
    bool not_available = false;  // with a row for each name without a wheel
    bool not_available_only = false;
};

// Rows that would look the same are one row.
[[nodiscard]] std::vector<Row> make_rows(const Answer& answer, const RowOptions& options);

}  // namespace wheelyard::avail_wheels
