// Says when a long run shows another line of its progress.
#pragma once

#include "lib/base/clock.hpp"

namespace wheelyard::base {

// The first line comes after the interval: most runs take less.
class ProgressPace {
  public:
    explicit ProgressPace(const Clock& clock) : clock_(&clock), shown_(clock.now()) {}
    // The caller shows the line that is due.
    [[nodiscard]] bool is_due() {
        if (clock_->now() - shown_ < interval_us) return false;
        shown_ = clock_->now();
        return true;
    }

  private:
    static constexpr UnixMicros interval_us = 2 * second_us;
    const Clock* clock_;
    UnixMicros shown_;
};

}  // namespace wheelyard::base
