#include "registry/commit/late_roots.hpp"

#include <algorithm>
#include <cstdint>

namespace wheelyard::registry {
namespace {

constexpr int root_rest_factor = 10;  // pause = 10 × the last write's duration: about a tenth of the time
constexpr std::int64_t max_root_rest_ms = 60'000;  // longest pause, also between failed tries

using Duration = LateRoots::TimePoint::duration;
constexpr Duration max_rest = std::chrono::milliseconds(max_root_rest_ms);

}  // namespace

void LateRoots::note_left(std::size_t count, TimePoint now) {
    if (count_ == 0 && count > 0) {
        since_ = now;
        due_at_ = std::max(now + delay_, rest_until_);
    }
    count_ = count;
}

void LateRoots::note_written(TimePoint began, TimePoint now) {
    count_ = 0;
    retry_ = delay_;
    rest_until_ = now + std::min((now - began) * root_rest_factor, max_rest);
}

void LateRoots::note_failed(TimePoint now) {
    due_at_ = now + retry_;
    retry_ = std::chrono::duration_cast<std::chrono::milliseconds>(std::min<Duration>(retry_ * 2, max_rest));
}

std::int64_t LateRoots::behind_ms(TimePoint now) const {
    if (count_ == 0) return 0;
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - since_).count();
}

}  // namespace wheelyard::registry
