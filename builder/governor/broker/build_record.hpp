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
#include "builder/governor/broker/report.hpp"

namespace wheelyard::governor {

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
    [[nodiscard]] bool wants_timeline() const { return !plan_.trace.empty() || !plan_.svg.empty(); }

    const BrokerPlan& plan_;
    std::int64_t begun_ms_;
    std::vector<Observation> unwritten_;
    bool warned_about_history_ = false;
};

}  // namespace wheelyard::governor
