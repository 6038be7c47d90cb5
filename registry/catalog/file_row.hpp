// A FileRow as the JSON document that events carry.
//
//     {"format":"wheelyard.file/1","index":"bede-gh200","project":"six","filename":"six-1.16.0-py2.py3-none-any.whl",…}
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::catalog {

[[nodiscard]] std::string render_file_row(const FileRow& row);
[[nodiscard]] base::Result<FileRow> parse_file_row(std::string_view json);

}  // namespace wheelyard::catalog
