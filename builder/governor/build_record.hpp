// What a build leaves behind: its report, its timeline, and what history learns of it. Knows no process and
// no socket.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "builder/governor/broker.hpp"
#include "builder/governor/history.hpp"
#include "builder/governor/predict.hpp"
#include "builder/governor/report.hpp"

namespace wheelyard::governor {

[[nodiscard]] std::int64_t monotonic_ms();

// The lowest free number for each running compile: its line in the timeline.
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

    // What history knows; one that cannot be read is said and left out.
    [[nodiscard]] Predictor recall();
    // Says a sentence to the person now and keeps it for the report.
    void note(std::string sentence);
    // `start_ms` is of monotonic_ms(); the end is now.
    void add_try(TryEntry entry, std::int64_t start_ms);
    void add_memory(double bytes);
    void remember(const Facts& facts, double peak_bytes, double seconds, double min_bytes);
    void flush_history(LockPatience patience);
    // History, summary, and the files that were asked for; the exit status.
    [[nodiscard]] int finish();

  private:
    [[nodiscard]] bool wants_timeline() const { return !plan_.trace.empty() || !plan_.svg.empty(); }

    const BrokerPlan& plan_;
    std::int64_t begun_ms_;
    std::vector<Observation> unwritten_;
    bool history_complained_ = false;
};

}  // namespace wheelyard::governor
