// Renders the texts of a build's report.
#include "builder/governor/broker/report.hpp"

#include <algorithm>
#include <cstdio>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::size_t worst_shown = 5;
constexpr double shown_other_bytes = 128.0 * mib;  // below that it is the build tool itself

std::string bytes(double value) {
    return base::render_bytes(static_cast<std::uint64_t>(std::max(0.0, value)));
}
std::string duration(double seconds) {
    return base::render_duration_ms(static_cast<std::int64_t>(std::max(0.0, seconds) * 1000));
}

// A JSON string (RFC 8259 §7). If the text is not valid UTF-8, replaces non-ASCII bytes by question marks.
std::string quote(std::string_view text) {
    const bool good = base::is_utf8(text);
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            out += escaped;
        } else {
            out += byte >= 0x80 && !good ? '?' : c;
        }
    }
    return out + '"';
}

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", value);
    return text;
}
std::string number(std::uint64_t value) {
    return std::to_string(value);
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

void BuildReport::note_worst(const Worst& one) {
    const auto same =
        std::find_if(worst.begin(), worst.end(), [&](const Worst& row) { return row.source == one.source; });
    if (same != worst.end()) {
        if (one.peak_bytes > same->peak_bytes) *same = one;
    } else {
        worst.push_back(one);
    }
    std::sort(worst.begin(), worst.end(),
              [](const Worst& a, const Worst& b) { return a.peak_bytes > b.peak_bytes; });
    if (worst.size() > worst_shown) worst.resize(worst_shown);
}

bool BuildReport::other_was_largest() const {
    const double largest = worst.empty() ? 0 : worst.front().peak_bytes;
    return largest_other.bytes >= shown_other_bytes && largest_other.bytes > largest;
}

std::string render_progress(const Progress& progress) {
    std::string text = "governor: " + std::to_string(progress.done) + "/" +
                       std::to_string(progress.done + progress.running + progress.waiting) + " compiles, " +
                       std::to_string(progress.running) + " running, " + std::to_string(progress.waiting) +
                       " waiting, " + bytes(progress.used_bytes) + " of " + bytes(progress.room_bytes);
    if (progress.again > 0) text += ", run again " + std::to_string(progress.again);
    if (progress.left_seconds > 0)
        text += ", about " + duration(progress.left_seconds) + " for those waiting";
    return text;
}

std::string render_summary(const BuildReport& report) {
    std::string text = "governor: " + std::to_string(report.compiles) + " compiles in " +
                       duration(report.wall_seconds) + " (" + duration(report.compile_seconds) +
                       " of compiling), at most " + std::to_string(report.max_running) + " at once, " +
                       bytes(report.high_water_bytes) + " of " + bytes(report.limit_bytes) + " (" +
                       report.limit_name + ")\n";
    text += "governor: killed for memory and run again " + std::to_string(report.killed) +
            ", by the kernel " + std::to_string(report.oom_kills) + ", unexplained " +
            std::to_string(report.unexplained) + ", stopped " + std::to_string(report.stopped) +
            ", could not fit " + std::to_string(report.gave_up) + ", failed " +
            std::to_string(report.failed) + "\n";
    if (report.cache_hits > 0)
        text += "governor: from the compiler cache " + std::to_string(report.cache_hits) + "\n";
    for (const auto& row : report.worst) {
        text +=
            "governor:   " + bytes(row.peak_bytes) + "  " + duration(row.seconds) + "  " + row.source + "\n";
    }
    if (report.other_was_largest())
        text += "governor: the largest process was " + report.largest_other.name + " with " +
                bytes(report.largest_other.bytes) + "; it is not governed\n";
    if (report.capped_jobs > 0) text += "governor: " + report.capped_because + "\n";
    return text;
}

std::string render_json(const BuildReport& report) {
    std::string text = "{\n  \"format\": \"wheelyard.governor-summary/1\"";
    const auto add = [&](const char* name, const std::string& value) {
        text += std::string(",\n  \"") + name + "\": " + value;
    };
    add("compiles", number(report.compiles));
    add("known", number(report.known));
    add("cache_hits", number(report.cache_hits));
    add("failed", number(report.failed));
    add("killed", number(report.killed));
    add("oom_kills", number(report.oom_kills));
    add("unexplained", number(report.unexplained));
    add("could_not_fit", number(report.gave_up));
    add("stopped", number(report.stopped));
    add("lost", number(report.lost));
    add("max_waiting", number(report.max_waiting));
    add("max_running", number(report.max_running));
    add("cores", number(std::uint64_t{report.cores}));
    add("wall_s", number(report.wall_seconds));
    add("compile_s", number(report.compile_seconds));
    add("high_water_bytes", number(report.high_water_bytes));
    add("limit_bytes", number(report.limit_bytes));
    add("room_bytes", number(report.room_bytes));
    add("limit", quote(report.limit_name));
    add("largest_ungoverned", report.largest_other.bytes <= 0
                                  ? "null"
                                  : "{\"program\": " + quote(report.largest_other.name) +
                                        ", \"peak_bytes\": " + number(report.largest_other.bytes) + "}");
    add("jobs_capped_at", report.capped_jobs == 0 ? "null" : number(std::uint64_t{report.capped_jobs}));
    add("prediction_error_median",
        report.prediction_errors.empty() ? "null" : number(median(report.prediction_errors)));
    std::string rows;
    for (const auto& row : report.worst) {
        rows += (rows.empty() ? "" : ", ") + std::string("{\"source\": ") + quote(row.source) +
                ", \"peak_bytes\": " + number(row.peak_bytes) + ", \"seconds\": " + number(row.seconds) + "}";
    }
    add("worst", "[" + rows + "]");
    rows.clear();
    for (const auto& form : report.forms) {
        rows += (rows.empty() ? "" : ", ") + std::string("{\"form\": ") + quote(form.name) +
                ", \"command\": " + quote(form.command) +
                ", \"intercepted\": " + (form.intercepted ? "true" : "false") + "}";
    }
    add("forms", "[" + rows + "]");
    rows.clear();
    for (const auto& message : report.messages)
        rows += (rows.empty() ? "" : ", ") + quote(message);
    add("messages", "[" + rows + "]");
    return text + "\n}\n";
}

// "X" events are slices, "C" events counters; times in microseconds.
std::string render_trace(const BuildReport& report) {
    std::string text = "{\"traceEvents\":[\n";
    bool first = true;
    const auto add = [&](const std::string& event) {
        text += (first ? "" : ",\n") + event;
        first = false;
    };
    for (const auto& one : report.tries) {
        add("{\"ph\":\"X\",\"pid\":1,\"tid\":" + std::to_string(one.lane) + ",\"name\":" + quote(one.source) +
            ",\"cat\":" + quote(one.end) + ",\"ts\":" + std::to_string(one.start_ms * 1000) +
            ",\"dur\":" + std::to_string((one.end_ms - one.start_ms) * 1000) +
            ",\"args\":{\"end\":" + quote(one.end) + ",\"peak_mib\":" + number(one.peak_bytes / 1048576) +
            ",\"predicted_mib\":" + number(one.predicted_bytes / 1048576) + "}}");
    }
    for (const auto& [when_ms, used] : report.memory) {
        add("{\"ph\":\"C\",\"pid\":1,\"name\":\"memory\",\"ts\":" + std::to_string(when_ms * 1000) +
            ",\"args\":{\"mib\":" + number(used / 1048576) + "}}");
    }
    return text + "\n]}\n";
}

}  // namespace wheelyard::governor
