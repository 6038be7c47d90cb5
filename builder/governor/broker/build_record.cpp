// Collects messages, timeline entries and measurements during the build and writes them at its end.
#include "builder/governor/broker/build_record.hpp"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::governor {

namespace {

constexpr std::size_t max_trace_entries = 200'000;

constexpr std::size_t max_messages = 1000;

}  // namespace

std::int64_t monotonic_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

unsigned Lanes::take() {
    if (free_.empty()) return next_++;
    const unsigned lane = *free_.begin();
    free_.erase(free_.begin());
    return lane;
}

Predictor BuildRecord::recall() {
    Predictor predictor;
    if (plan_.history.empty()) return predictor;
    std::string warning;
    for (const auto& [key, record] : load_history(plan_.history, warning))
        predictor.recall(key, record);
    if (!warning.empty()) note("the history cannot be used: " + warning);
    return predictor;
}

void BuildRecord::note(std::string message) {
    // A value quoted from a malformed file may contain control characters.
    message = base::printable_line(message);
    base::print(stderr, "governor: %s\n", message.c_str());
    if (report.messages.size() < max_messages) report.messages.push_back(std::move(message));
}

void BuildRecord::add_try(TryEntry entry, std::int64_t start_ms) {
    if (!wants_timeline() || report.tries.size() >= max_trace_entries) return;
    entry.start_ms = start_ms - begun_ms_;
    entry.end_ms = monotonic_ms() - begun_ms_;
    report.tries.push_back(std::move(entry));
}

void BuildRecord::add_memory(double bytes) {
    if (wants_timeline() && report.memory.size() < max_trace_entries) {
        report.memory.emplace_back(monotonic_ms() - begun_ms_, bytes);
    }
}

void BuildRecord::remember(const CompileFacts& facts, double peak_bytes, double seconds, double min_bytes) {
    if (plan_.history.empty()) return;
    Observation observation;
    observation.key = key_of(facts);
    observation.seen.source = facts.source;
    observation.seen.compiler = facts.compiler;
    observation.seen.language = facts.language;
    observation.seen.architectures = facts.architectures;
    observation.seen.peak_bytes = peak_bytes;
    observation.seen.seconds = seconds;
    observation.seen.min_bytes = min_bytes;
    observation.seen.last_day = base::SystemClock{}.now() / base::day_us;
    unwritten_.push_back(std::move(observation));
}

void BuildRecord::flush_history(LockPatience patience) {
    if (unwritten_.empty()) return;
    const auto stored = store_observations(plan_.history, unwritten_, base::SystemClock{}, patience);
    if (stored) {
        unwritten_.clear();
    } else if (patience == LockPatience::none && stored.error().kind == base::ErrorKind::busy) {
        return;  // a later flush writes it
    } else if (!warned_about_history_) {
        warned_about_history_ = true;
        note("the history cannot be written: " + stored.error().text());
    }
}

int BuildRecord::finish() {
    flush_history(LockPatience::some);
    report.wall_seconds = static_cast<double>(monotonic_ms() - begun_ms_) / 1000;
    if (!plan_.quiet && report.compiles + report.cache_hits + report.lost > 0)
        base::print(stderr, render_last_line(report));
    int status = 0;
    for (const auto& [file, text] :
         {std::pair{&plan_.json, &render_json}, std::pair{&plan_.trace, &render_trace}}) {
        if (file->empty()) continue;
        if (const auto written = base::replace_file(*file, text(report)); !written) {
            note(written.error().text());
            status = 1;
        }
    }
    return status;
}

namespace {

constexpr std::size_t worst_shown = 5;

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

std::string render_last_line(const BuildReport& report) {
    std::string text = "governor: " + std::to_string(report.compiles) + " compiles in " +
                       duration(report.wall_seconds) + ", at most " + std::to_string(report.max_running) +
                       " at once, " + bytes(report.high_water_bytes) + " of " + bytes(report.limit_bytes) +
                       " (" + report.limit_name + ")";
    if (report.killed + report.oom_kills > 0)
        text += ", " + std::to_string(report.killed + report.oom_kills) + " killed for memory";
    if (report.gave_up > 0) text += ", " + std::to_string(report.gave_up) + " could not fit";
    return text + "\n";
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
