// What a governed build tells: a progress line, a summary for people, one for programs, and a timeline in the
// trace format that Chrome's and Perfetto's viewers read, and as a picture. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wheelyard::governor {

struct TryEntry {  // one try, for the timeline
    std::string source;
    std::int64_t start_ms = 0, end_ms = 0;
    double peak_bytes = 0, predicted_bytes = 0;
    std::string end;  // "ok", "hit" (of a compiler cache), "failed", "killed", "oom", "lost"
    unsigned lane = 0;
};

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
    double high_water_bytes = 0;  // of our compiles, as sampled
    double limit_bytes = 0, room_bytes = 0;
    std::string limit_name;
    unsigned cores = 1;
    std::vector<Worst> worst;  // largest first
    std::vector<std::string> messages;
    std::vector<double> prediction_errors;  // |peak / predicted − 1| of known compiles
    std::vector<TryEntry> tries;
    std::vector<std::pair<std::int64_t, double>> memory;  // (ms, bytes)

    void note_worst(const Worst& one);
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
