// A FileRow as the JSON document that events carry, and an event as the audit log shows it.
//
//     {"format":"wheelyard.file/1","index":"bede-gh200","project":"six","filename":"six-1.16.0-py2.py3-none-any.whl",…}
//     {"serial":15,"time":"2026-11-20T12:00:00.000000Z","kind":"file_yanked",…,"actor":"anna","reason":"broken on ppc64le"}
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::catalog {

[[nodiscard]] std::string render_file_row(const FileRow& row);
[[nodiscard]] base::Result<FileRow> parse_file_row(std::string_view json);
[[nodiscard]] io::Json event_to_json(const Event& event);  // without details

}  // namespace wheelyard::catalog
