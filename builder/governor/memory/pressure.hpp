// Memory pressure as the kernel measures it (Documentation/accounting/psi.rst): how long every task that
// could run stood still for memory. It rises while reclaim still just keeps up, so before anything is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wheelyard::governor {

// The total of the "full" line, in microseconds:
//   some avg10=0.00 avg60=0.00 avg300=0.00 total=4144898
//   full avg10=0.00 avg60=0.00 avg300=0.00 total=465382
[[nodiscard]] std::optional<std::uint64_t> full_stall_us(std::string_view pressure);

// Whether more than a part of the time between two looks was stalled.
class StallMeter {
  public:
    // `path`: of a group's memory.pressure or of the machine's /proc/pressure/memory; one that is not there
    // never stalls.
    explicit StallMeter(std::string path = {}) : path_(std::move(path)) {}
    [[nodiscard]] bool is_stalled(std::int64_t now_ms);

  private:
    std::string path_;
    std::uint64_t total_us_ = 0;
    std::int64_t read_ms_ = 0;
    bool has_read_ = false, stalled_ = false;
};

}  // namespace wheelyard::governor
