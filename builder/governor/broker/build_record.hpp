// What a build leaves behind: its report, its timeline and its measurements for the history. Uses no process
// or socket.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "builder/governor/admission/history.hpp"
#include "builder/governor/admission/predict.hpp"
#include "builder/governor/broker/broker.hpp"
#include "builder/governor/launch/coverage.hpp"
#include "builder/governor/memory/process_tree.hpp"

namespace wheelyard::governor {

// The outputs of a governed build: the progress line, the last line, the summary as JSON, and the timeline in
// the trace format of the Chrome and Perfetto viewers. Pure.

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
    std::vector<TryEntry> tries;
    std::vector<std::pair<std::int64_t, double>> memory;  // (ms, bytes)

    void note_worst(const Worst& one);
};

struct Progress {
    std::uint64_t done = 0, running = 0, waiting = 0, again = 0;
    double used_bytes = 0, room_bytes = 0, left_seconds = 0;
};

[[nodiscard]] std::string render_progress(const Progress& progress);
// "governor: 12 compiles in 10.0 s, at most 4 at once, 1 GiB of 2 GiB (--memory), 1 killed for memory"
[[nodiscard]] std::string render_last_line(const BuildReport& report);
[[nodiscard]] std::string render_json(const BuildReport& report);
[[nodiscard]] std::string render_trace(const BuildReport& report);

[[nodiscard]] std::int64_t monotonic_ms();

// Gives each running compile the lowest free number, its row in the timeline.
class Lanes {
  public:
    [[nodiscard]] unsigned take();
    void give(unsigned lane) { free_.insert(lane); }

  private:
    std::set<unsigned> free_;
    unsigned next_ = 0;
};

class BuildRecord {
  public:
    explicit BuildRecord(const BrokerPlan& plan) : plan_(plan), begun_ms_(monotonic_ms()) {}

    BuildReport report;

    // A predictor with the history; reports a history that cannot be read and continues without it.
    [[nodiscard]] Predictor recall();
    // Prints `message` and keeps it for the report.
    void note(std::string message);
    // Adds a try that ends now; `start_ms` is on the clock of monotonic_ms().
    void add_try(TryEntry entry, std::int64_t start_ms);
    void add_memory(double bytes);
    void remember(const CompileFacts& facts, double peak_bytes, double seconds, double min_bytes);
    void flush_history(LockPatience patience);
    // Writes history, summary and the requested files; returns the exit status.
    [[nodiscard]] int finish();

  private:
    [[nodiscard]] bool wants_timeline() const { return !plan_.trace.empty(); }

    const BrokerPlan& plan_;
    std::int64_t begun_ms_;
    std::vector<Observation> unwritten_;
    bool warned_about_history_ = false;
};

}  // namespace wheelyard::governor
