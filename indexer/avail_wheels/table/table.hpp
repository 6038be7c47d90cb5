// Tables as drawn by Python's tabulate, which the Alliance's users know.
//
//     name      version    python    arch
//     --------  ---------  --------  -------
//     h5netcdf  0.7.4      py2,py3   generic
//
// A column is as wide as its widest cell, and at least its header + 2. No line ends in a space. Unlike
// tabulate's default, cells that look like numbers stay text: 1.10 is not 1.1.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/node_probe.hpp"
#include "indexer/avail_wheels/query/lock_answer.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

// Converts the wheels of an answer to the rows of a table.

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

// The names of --format, in the order in which help lists them.
[[nodiscard]] const std::vector<std::string>& table_formats();

// `format` is one of table_formats(); every row has as many cells as `headers`. Ends in a newline.
[[nodiscard]] std::string render_table(std::string_view format, const std::vector<std::string>& headers,
                                       const std::vector<Row>& rows);

// The number of terminal columns of a text.

// For UTF-8: East Asian wide and fullwidth characters and emoji take two columns, combining marks and
// zero-width characters none (Unicode's EastAsianWidth and General_Category, as in wcwidth). Each byte of
// invalid UTF-8 counts as one.
[[nodiscard]] std::size_t display_width(std::string_view text);

// `lock`: what of a lock is here, as a member of this name; null: none was asked about.
[[nodiscard]] std::string render_document(const Answer& answer, io::Json lock = {});
[[nodiscard]] io::Json render_lock(const std::string& file, const std::vector<LockedHere>& packages,
                                   std::size_t left_out, const std::vector<std::string>& refusals);

// Rows of the terminal at standard output; 0: not a terminal.
[[nodiscard]] std::size_t terminal_rows();
// Uses $PAGER, otherwise less; LESS defaults to FRX, as in git. False: the pager could not be started, and
// nothing was shown.
[[nodiscard]] bool show_in_pager(const std::string& text, const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
