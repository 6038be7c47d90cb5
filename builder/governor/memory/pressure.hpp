// Memory pressure as the kernel measures it (Documentation/accounting/psi.rst): the time in which all
// runnable tasks waited for memory. It rises while reclaim still keeps up, before the kernel kills a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::governor {

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

}  // namespace wheelyard::governor
