// The state of memory during a build: the current limit, OOM kills, and whether memory was short recently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "builder/governor/memory/memory_limit.hpp"

namespace wheelyard::governor {

// Memory pressure as the kernel measures it (Documentation/accounting/psi.rst): the time in which all
// runnable tasks waited for memory. It rises while reclaim still keeps up, before the kernel kills a process.
// The total of the "full" line, in microseconds; nullopt if there is none.
//   some avg10=0.00 avg60=0.00 avg300=0.00 total=4144898
//   full avg10=0.00 avg60=0.00 avg300=0.00 total=465382
[[nodiscard]] std::optional<std::uint64_t> full_stall_us(std::string_view pressure);

// Reports whether tasks were stalled for more than stall_fraction of the time between two reads.
class StallMeter {
  public:
    // `path`: memory.pressure of a group, or /proc/pressure/memory. A missing file never reports a stall.
    explicit StallMeter(std::string path = {}) : path_(std::move(path)) {}
    // Reads at most once per stall_window_ms; in between, repeats the last answer.
    [[nodiscard]] bool is_stalled(std::int64_t now_ms);

  private:
    std::string path_;
    std::uint64_t total_us_ = 0;
    std::int64_t read_ms_ = 0;
    bool has_read_ = false, stalled_ = false;
};

class MemoryWatch {
  public:
    explicit MemoryWatch(LimitReader limits);

    // Reads every limit. `own_bytes`: what our compiles use now.
    void read(double own_bytes, std::int64_t now_ms);
    [[nodiscard]] bool is_due(std::int64_t now_ms) const;
    // Records what our compiles use now. If that is near the limit, reads the limits at once, because other
    // processes may use more than before, and returns true.
    bool note_use(double own_bytes, std::int64_t now_ms);
    // Says whether the kernel reports memory pressure at our limit: in our own group (version 2), or on the
    // machine if its free memory is the tightest limit. Pressure elsewhere is not ours. Counts as a shortage.
    [[nodiscard]] bool is_stalled(std::int64_t now_ms);
    // Says whether memory was short within pressure_memory_ms, so that a process that died may have died of
    // it.
    [[nodiscard]] bool was_short(std::int64_t now_ms) const;
    // Reads the number of OOM kills so far, in our groups and on the machine.
    [[nodiscard]] std::uint64_t count_kernel_kills() const { return limits_.oom_kills(); }

    [[nodiscard]] Room room() const { return {limit_.tightest.room(), limit_.tightest_killing.room()}; }
    // The widest room seen under the present limits: what may become free again when others use less.
    [[nodiscard]] Room widest_room() const { return {widest_.bytes, widest_alone_.bytes}; }
    [[nodiscard]] double own_bytes() const { return own_bytes_; }
    [[nodiscard]] const MemoryLimit& limit() const { return limit_; }
    [[nodiscard]] const LimitReader& limits() const { return limits_; }

  private:
    struct Widest {
        double bytes = 0, cap = 0;
        void update(const LimitSource& source);
    };

    LimitReader limits_;
    StallMeter group_stall_, machine_stall_;
    MemoryLimit limit_;
    Widest widest_, widest_alone_;
    double own_bytes_ = 0;
    std::int64_t read_ms_ = 0, short_ms_ = 0;
    bool was_ever_short_ = false;
};

}  // namespace wheelyard::governor
