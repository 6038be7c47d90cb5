// One step per sample: kill, resume or stop a compile.
#include "builder/governor/admission/surprise.hpp"

#include <algorithm>

#include "builder/governor/memory/memory_limit.hpp"

namespace wheelyard::governor {
namespace {

struct Totals {
    double used = 0;
    double overrun = 0;  // beyond the predictions
    double growth = 0;   // expected of the active compiles
    std::size_t active = 0, stopped = 0;
    bool has_dying = false;
    const RunningView *youngest = nullptr, *youngest_active = nullptr, *oldest_stopped = nullptr;

    void add(const RunningView& one) {
        used += one.bytes;
        overrun += std::max(0.0, one.bytes - one.expected_bytes);
        has_dying = has_dying || one.dying;
        if (youngest == nullptr || one.age > youngest->age) youngest = &one;
        if (one.stopped) {
            ++stopped;
            if (oldest_stopped == nullptr || one.age < oldest_stopped->age) oldest_stopped = &one;
        } else {
            ++active;
            growth += one.growth();
            if (youngest_active == nullptr || one.age > youngest_active->age) youngest_active = &one;
        }
    }
};

bool is_surprise(const Totals& all, const Thresholds& thresholds) {
    return all.used + all.growth > thresholds.surprise;
}

bool is_near(const Totals& all, const Thresholds& thresholds) {
    return is_surprise(all, thresholds) && all.used > thresholds.room * stop_above;
}

bool must_kill(const Totals& all, const Thresholds& thresholds) {
    const std::size_t running = all.active + all.stopped;
    if (running == 1) return all.used > thresholds.alone;
    const bool may_grow_on = is_surprise(all, thresholds) || all.overrun > thresholds.overrun;
    const bool has_too_many_stopped = all.active > 1 && all.stopped * max_stopped_divisor > running;
    return all.used > thresholds.room || (may_grow_on && all.used > thresholds.room * kill_above) ||
           (has_too_many_stopped && is_near(all, thresholds));
}

bool can_resume(const Totals& all, const Thresholds& thresholds, bool stalled) {
    if (all.stopped == 0) return false;
    if (all.active == 0) return true;
    return !stalled && (all.used + all.growth + all.oldest_stopped->growth() <= thresholds.surprise ||
                        all.used < thresholds.room * resume_below);
}

bool must_stop(const Totals& all, const Thresholds& thresholds, bool stalled) {
    return all.active > 1 && (stalled || is_near(all, thresholds));
}

}  // namespace

Thresholds thresholds_of(const Room& room, double limit_bytes, double killing_bytes) {
    const double reserve = reserve_of(limit_bytes);
    return {room.shared, room.shared + tolerated_fraction * reserve, overrun_fraction * reserve,
            room.alone + reserve_of(killing_bytes)};
}

Remedy find_remedy(const std::vector<RunningView>& running, const Thresholds& thresholds, bool stalled) {
    Totals all;
    for (const auto& one : running)
        all.add(one);
    Remedy remedy;
    if (all.youngest == nullptr || all.has_dying) return remedy;  // none runs, or one is about to end
    if (must_kill(all, thresholds)) {
        remedy.kill = all.youngest->id;
    } else if (can_resume(all, thresholds, stalled)) {
        remedy.resume = all.oldest_stopped->id;
    } else if (must_stop(all, thresholds, stalled)) {
        remedy.stop = all.youngest_active->id;
    }
    return remedy;
}

std::int64_t next_sample_ms(double used_bytes, double room_bytes, std::size_t running) {
    const double growth = fastest_growth_bytes_per_s * static_cast<double>(std::max<std::size_t>(1, running));
    const double until_full_ms = (room_bytes * stop_above - used_bytes) / growth * 1000;
    return static_cast<std::int64_t>(
        std::clamp(until_full_ms, static_cast<double>(min_sample_ms), static_cast<double>(max_sample_ms)));
}

}  // namespace wheelyard::governor
