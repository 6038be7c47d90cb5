// How often something was done, and how long it took in all. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace wheelyard::base {

class Spent {
  public:
    using Clock = std::chrono::steady_clock;
    struct Sum {
        std::uint64_t times = 0;
        double seconds = 0;
    };

    void add(Clock::duration took, std::uint64_t times = 1) {
        times_.fetch_add(times, std::memory_order_relaxed);
        ns_.fetch_add(static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()),
                      std::memory_order_relaxed);
    }
    [[nodiscard]] Sum sum() const {
        return {times_.load(std::memory_order_relaxed),
                static_cast<double>(ns_.load(std::memory_order_relaxed)) / 1e9};
    }

    // Counts the time from here to the end of its scope.
    class Timer {
      public:
        explicit Timer(Spent& spent, std::uint64_t times = 1) : spent_(spent), times_(times) {}
        ~Timer() { spent_.add(Clock::now() - began_, times_); }
        Timer(const Timer&) = delete;
        Timer& operator=(const Timer&) = delete;

      private:
        Spent& spent_;
        const std::uint64_t times_;
        const Clock::time_point began_ = Clock::now();
    };

  private:
    std::atomic<std::uint64_t> times_ = 0;
    std::atomic<std::uint64_t> ns_ = 0;
};

}  // namespace wheelyard::base
