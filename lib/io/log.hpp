// Structured log lines on standard error: time, level, event, fields. Values are logged as passed: callers
// pass ids, never tokens.
//
//     2026-11-20T07:47:35.120Z info  upload.accepted request=7f3a filename=six-1.16.0-py3-none-any.whl
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace wheelyard::io {

enum class LogLevel { debug, info, warn, error };
using LogField = std::pair<std::string_view, std::string>;

void set_log_level(LogLevel min);
// Lets callers skip building expensive fields.
[[nodiscard]] bool is_logged(LogLevel level);
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
inline void log_info(std::string_view event, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::info, event, fields);
}
inline void log_warn(std::string_view event, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::warn, event, fields);
}
inline void log_error(std::string_view event, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::error, event, fields);
}

}  // namespace wheelyard::io
