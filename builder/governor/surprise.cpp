// Stop, kill, continue: one step at a time, each look at memory anew.
#include "builder/governor/surprise.hpp"

#include <algorithm>

#include "builder/governor/limits.hpp"
#include "builder/governor/memory_limit.hpp"

namespace wheelyard::governor {

Marks marks_of(const Room& room, double limit, double killing) {
    const double reserve = reserve_of(limit);
    return {room.shared, room.shared + tolerated_part * reserve, outgrown_part * reserve,
            room.alone + reserve_of(killing)};
}

Remedy find_remedy(const std::vector<RunningView>& running, const Marks& marks, bool stalled) {
    Remedy remedy;
    double used = 0, outgrown = 0, growth = 0;  // that is expected of those that move
    std::size_t moving = 0, stopped = 0;
    bool dying = false;
    const RunningView *youngest = nullptr, *youngest_moving = nullptr, *oldest_stopped = nullptr;
    for (const auto& one : running) {
        used += one.bytes;
        outgrown += std::max(0.0, one.bytes - one.expected_bytes);
        dying = dying || one.dying;
        if (one.dying) continue;
        if (youngest == nullptr || one.age > youngest->age) youngest = &one;
        if (one.stopped) {
            ++stopped;
            if (oldest_stopped == nullptr || one.age < oldest_stopped->age) oldest_stopped = &one;
        } else {
            ++moving;
            growth += one.growth();
            if (youngest_moving == nullptr || one.age > youngest_moving->age) youngest_moving = &one;
        }
    }
    if (youngest == nullptr || dying) return remedy;
    const bool is_alone = running.size() == 1;
    const bool is_surprise = used + growth > marks.surprise;
    const bool is_near = is_surprise && used > marks.room * stop_above;
    const bool stops_enough = moving > 1 && stopped * max_stopped_part > running.size();
    const bool may_grow_on = is_surprise || outgrown > marks.outgrown;
    const bool must_kill = used > marks.room || (may_grow_on && used > marks.room * kill_above);
    const bool can_go_on =
        oldest_stopped != nullptr && !stalled &&
        (used + growth + oldest_stopped->growth() <= marks.surprise || used < marks.room * continue_below);
    if (is_alone ? used > marks.alone : must_kill || (is_near && stops_enough)) {
        remedy.kill = youngest->id;
    } else if (moving == 0 || can_go_on) {
        remedy.resume = oldest_stopped->id;
    } else if ((is_near || stalled) && moving > 1) {
        remedy.stop = youngest_moving->id;
    }
    return remedy;
}

std::int64_t next_look_ms(double used, double room, std::size_t running) {
    const double growth = fastest_growth_bytes_per_s * static_cast<double>(std::max<std::size_t>(1, running));
    const double until_full_ms = (room * stop_above - used) / growth * 1000;
    return static_cast<std::int64_t>(
        std::clamp(until_full_ms, static_cast<double>(min_look_ms), static_cast<double>(max_look_ms)));
}

}  // namespace wheelyard::governor
