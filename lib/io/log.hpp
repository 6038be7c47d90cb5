// Structured log lines on standard error: time, level, event, fields. Values are logged as passed: callers
// pass ids, never tokens.
//
//     2026-11-20T07:47:35.120Z info  upload.accepted request=7f3a filename=six-1.16.0-py3-none-any.whl
//
// or, after log_as_json(true):
//
//     {"time":"2026-11-20T07:47:35.120Z","level":"info","event":"upload.accepted","request":"7f3a", …}
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace wheelyard::io {

using LogField = std::pair<std::string_view, std::string>;

void log_as_json(bool on);  // from now on, in this process
void log_info(std::string_view event, std::initializer_list<LogField> fields = {});
void log_warn(std::string_view event, std::initializer_list<LogField> fields = {});
void log_error(std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace wheelyard::io
