// When the large root pages are written: the schedule alone, no I/O.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// Schedules the large root pages that publish runs defer. They are written a short delay after the first
// missing name, so that a burst of uploads shares one write, and rarely enough that they take a small part of
// the publisher's time, because uploads wait for the same thread. See docs/explanation/decisions/0010.
class LateRoots {
  public:
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit LateRoots(std::int64_t delay_ms) : delay_(delay_ms) {}

    // A run with RootPages::prompt ended and left `count` root pages unwritten.
    void note_left(std::size_t count, TimePoint now);
    // A run with RootPages::all succeeded; it took from `began` until `now`.
    void note_written(TimePoint began, TimePoint now);
    // A run with RootPages::all failed: retry after a delay that doubles each time.
    void note_failed(TimePoint now);

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] TimePoint due_at() const { return due_at_; }  // valid while count() > 0
    [[nodiscard]] bool are_due(TimePoint now) const { return count_ > 0 && now >= due_at_; }
    [[nodiscard]] std::int64_t behind_ms(TimePoint now) const;

  private:
    const std::chrono::milliseconds delay_;
    std::chrono::milliseconds retry_ = delay_;
    std::size_t count_ = 0;
    TimePoint since_{};
    TimePoint due_at_{};
    TimePoint rest_until_{};
};

}  // namespace wheelyard::registry
