// The outputs of a governed build: progress line, summary for the user, JSON summary, and the timeline as an
// SVG and in the trace format of the Chrome and Perfetto viewers. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/governor/launch/coverage.hpp"
#include "builder/governor/memory/process_tree.hpp"

namespace wheelyard::governor {

// One try of a compile, for the timeline.
struct TryEntry {
    std::string source;
    std::int64_t start_ms = 0, end_ms = 0;
    double peak_bytes = 0, predicted_bytes = 0;
    std::string end;  // "ok", "hit" (in a compiler cache), "failed", "killed", "oom", "lost"
    unsigned lane = 0;
};

// A compile with a large peak.
struct Worst {
    std::string source;
    double peak_bytes = 0;
    double seconds = 0;
};

struct BuildReport {
    std::uint64_t compiles = 0, failed = 0, killed = 0, oom_kills = 0, unexplained = 0, gave_up = 0,
                  stopped = 0, lost = 0, known = 0, cache_hits = 0;
    std::uint64_t max_waiting = 0, max_running = 0;
    double compile_seconds = 0, wall_seconds = 0;
    double high_water_bytes = 0;  // maximum of the samples of all running compiles
    double limit_bytes = 0, room_bytes = 0;
    std::string limit_name;
    unsigned cores = 1;
    std::vector<Worst> worst;  // the largest peaks, descending
    std::vector<std::string> messages;
    std::vector<double> prediction_errors;  // |peak / predicted − 1| of known compiles
    ProcessPeak largest_other;              // outside of governed compiles
    std::vector<Form> forms;                // of the self-test
    unsigned capped_jobs = 0;               // 0: -j was raised to the window
    std::string capped_because;
    std::vector<TryEntry> tries;
    std::vector<std::pair<std::int64_t, double>> memory;  // (ms, bytes)

    void note_worst(const Worst& one);
    // Whether the largest process was not part of a compile, and is worth a line.
    [[nodiscard]] bool other_was_largest() const;
};

struct Progress {
    std::uint64_t done = 0, running = 0, waiting = 0, again = 0;
    double used_bytes = 0, room_bytes = 0, left_seconds = 0;
};

[[nodiscard]] std::string render_progress(const Progress& progress);
[[nodiscard]] std::string render_summary(const BuildReport& report);
[[nodiscard]] std::string render_json(const BuildReport& report);
[[nodiscard]] std::string render_trace(const BuildReport& report);
[[nodiscard]] std::string render_svg(const BuildReport& report);

}  // namespace wheelyard::governor
