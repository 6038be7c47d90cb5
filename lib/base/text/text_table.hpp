// A plain table for people: columns padded to their widest cell.
//
//     PACKAGE  VERSION  STATE
//     torch    2.4.0    building
#pragma once

#include <string>
#include <vector>

namespace wheelyard::base {

using TableRow = std::vector<std::string>;
// Two spaces between columns, no trailing spaces; a line feed in a cell becomes a space. Rows may differ in
// length. Widths are counted in bytes.
[[nodiscard]] std::string render_table(const std::vector<TableRow>& rows);

}  // namespace wheelyard::base
