// A thread that repeats work with pauses, and a clock whose sleeps end when the thread must stop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "lib/base/clock.hpp"

namespace wheelyard::registry {

class BackgroundTask {
  public:
    // Waits `first_delay_ms`, then runs `work` again and again with `pause_ms` in between. `clock` is this
    // task's: its sleeps end at once when the task stops.
    using Work = std::function<void(base::Clock& clock)>;
    BackgroundTask(std::int64_t first_delay_ms, std::int64_t pause_ms, Work work);
    ~BackgroundTask();  // waits for the work in progress
    BackgroundTask(const BackgroundTask&) = delete;
    BackgroundTask& operator=(const BackgroundTask&) = delete;
    [[nodiscard]] bool is_stopping() const;

  private:
    class StoppableClock final : public base::Clock {
      public:
        explicit StoppableClock(BackgroundTask& task) : task_(task) {}
        [[nodiscard]] base::UnixMicros now() const override { return system_.now(); }
        void sleep_ms(std::int64_t duration_ms) override { task_.wait(duration_ms); }

      private:
        BackgroundTask& task_;
        base::SystemClock system_;
    };
    void run(std::int64_t first_delay_ms, std::int64_t pause_ms);
    void wait(std::int64_t duration_ms);

    const Work work_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    StoppableClock clock_{*this};
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace wheelyard::registry
