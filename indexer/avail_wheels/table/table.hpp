// Tables as drawn by Python's tabulate, which the Alliance's users know.
//
//     name      version    python    arch
//     --------  ---------  --------  -------
//     h5netcdf  0.7.4      py2,py3   generic
//
// A column is as wide as its widest cell, and at least its header + 2. No line ends in a space. Unlike
// tabulate's default, cells that look like numbers stay text: 1.10 is not 1.1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/table/columns.hpp"

namespace wheelyard::avail_wheels {

// The names of --format, in the order in which help lists them.
[[nodiscard]] const std::vector<std::string>& table_formats();

// `format` is one of table_formats(); every row has as many cells as `headers`. Ends in a newline.
[[nodiscard]] std::string render_table(std::string_view format, const std::vector<std::string>& headers,
                                       const std::vector<Row>& rows);

}  // namespace wheelyard::avail_wheels
