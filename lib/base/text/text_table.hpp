// A plain table for people: columns padded to their widest cell.
//
//     PACKAGE  VERSION  STATE
//     torch    2.4.0    building
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::base {

using TableRow = std::vector<std::string>;
// Two spaces between columns, no trailing spaces; a line feed in a cell becomes a space. Rows may differ in
// length. Widths are counted in bytes.
[[nodiscard]] std::string render_table(const std::vector<TableRow>& rows);
// The number of terminal columns of a text.
using TextWidth = std::function<std::size_t(std::string_view)>;
// The same rows with cells broken between words into several rows, so that a table whose columns are `gap`
// apart fits `columns`; 0: no limit. Words are never cut: a table of longer ones is as wide as they are. A
// command that a reader may paste (in backquotes, or of a known program up to the end of its clause) counts
// as one word here and below.
[[nodiscard]] std::vector<TableRow> wrap_cells(const std::vector<TableRow>& rows, std::size_t columns,
                                               std::size_t gap, const TextWidth& width);
// Each row as lines of "HEAD  cell" and an empty line, for a table whose words need more columns than there
// are. The first row has the heads; empty cells are left out.
[[nodiscard]] std::string stack_rows(const std::vector<TableRow>& rows, std::size_t columns,
                                     const TextWidth& width);
// Lines of a text that are longer are broken between words, and go on with two spaces more, those of "name
// value" below the value; 0: no limit.
[[nodiscard]] std::string wrap_lines(std::string_view text, std::size_t columns);
// A table that fits; the first row has the heads. Where the last column would be narrower than a third of the
// line or than one of its words, it stands below its row; where words are too long for that as well, rows are
// stacked.
[[nodiscard]] std::string render_table(const std::vector<TableRow>& rows, std::size_t columns);

}  // namespace wheelyard::base
