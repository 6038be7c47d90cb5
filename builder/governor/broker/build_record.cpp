// Collects messages, timeline entries and measurements during the build and writes them at its end.
#include "builder/governor/broker/build_record.hpp"

#include <time.h>

#include <cstddef>
#include <cstdio>
#include <utility>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/printable.hpp"

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
    if (!plan_.quiet &&
        (report.compiles + report.cache_hits + report.lost > 0 || report.other_was_largest())) {
        base::print(stderr, render_summary(report));
    }
    int status = 0;
    for (const auto& [file, text] :
         {std::pair{&plan_.json, &render_json}, std::pair{&plan_.trace, &render_trace},
          std::pair{&plan_.svg, &render_svg}}) {
        if (file->empty()) continue;
        if (const auto written = base::replace_file(*file, text(report)); !written) {
            note(written.error().text());
            status = 1;
        }
    }
    return status;
}

}  // namespace wheelyard::governor
