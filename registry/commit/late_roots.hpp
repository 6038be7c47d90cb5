// When the large root pages are written that publish runs have left for later: a moment after the first name
// that they lack, so that a burst of uploads shares one, and seldom enough that writing them takes a small
// part of the publisher's time, because an upload that comes meanwhile waits.
// docs/explanation/decisions/0010.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

class LateRoots {
  public:
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit LateRoots(std::int64_t delay_ms) : delay_(delay_ms) {}

    // A run that may leave root pages has left so many.
    void note_left(std::size_t count, TimePoint now);
    // A run that leaves none took from `began` until `now`.
    void note_written(TimePoint began, TimePoint now);
    // … or came to nothing: again later, then twice as late each time.
    void note_failed(TimePoint now);

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] TimePoint due_at() const { return due_at_; }  // while count() > 0
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
