// One write(2) per line: lines of several threads and processes do not interleave.
#include "lib/io/log.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "lib/base/clock.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::io {
namespace {

constexpr std::size_t max_value_bytes = 4 * 1024;  // a longer value is cut, with a mark

bool is_plain(std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == 0x7F || c == '"' || c == '\\' || c == '=') return false;
    }
    return !text.empty() && base::is_utf8(text);
}

// Escapes a value so that it cannot end its line or look like another field.
void append_value(std::string& line, std::string_view value) {
    static constexpr char hex[] = "0123456789abcdef";
    const bool cut = value.size() > max_value_bytes;
    value = value.substr(0, max_value_bytes);
    if (!cut && is_plain(value)) {
        line += value;
        return;
    }
    const bool well_formed = base::is_utf8(value);
    line += '"';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            line += '\\';
            line += c;
        } else if (c == '\n') {
            line += "\\n";
        } else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !well_formed)) {
            line += "\\x";
            line += hex[byte >> 4];
            line += hex[byte & 15];
        } else {
            line += c;
        }
    }
    line += cut ? "…\"" : "\"";
}

std::atomic<bool> is_json = false;

std::string render_text(const std::string& time, std::string_view level, std::string_view event,
                        std::initializer_list<LogField> fields) {
    std::string line = time + " ";
    line.append(level).append(level.size() < 5 ? "  " : " ");
    append_value(line, event);
    for (const auto& [name, value] : fields) {
        line += ' ';
        append_value(line, name);
        line += '=';
        append_value(line, value);
    }
    return base::printable_line(line);  // C1 controls and those of direction
}

std::string render_json(const std::string& time, std::string_view level, std::string_view event,
                        std::initializer_list<LogField> fields) {
    Json line = Json::object({{"time", time}, {"level", level}, {"event", event}});
    for (const auto& [name, value] : fields) {
        const bool cut = value.size() > max_value_bytes;
        line.set(std::string(name), value.substr(0, max_value_bytes) + (cut ? "…" : ""));
    }
    return line.render();
}

void log(std::string_view level, std::string_view event, std::initializer_list<LogField> fields) {
    auto time = base::render_rfc3339(base::SystemClock().now());
    time.replace(time.size() - 4, 4, "Z");  // milliseconds are enough here
    const std::string line =
        (is_json ? render_json(time, level, event, fields) : render_text(time, level, event, fields)) + '\n';
    std::string_view left = line;
    while (!left.empty()) {
        const auto written = ::write(STDERR_FILENO, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;  // standard error is closed
        left.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

void log_as_json(bool on) {
    is_json = on;
}

void log_info(std::string_view event, std::initializer_list<LogField> fields) {
    log("info", event, fields);
}

void log_warn(std::string_view event, std::initializer_list<LogField> fields) {
    log("warn", event, fields);
}

void log_error(std::string_view event, std::initializer_list<LogField> fields) {
    log("error", event, fields);
}

}  // namespace wheelyard::io
