// Stop, kill, continue: one step at a time, each look at memory anew.
#include "builder/governor/surprise.hpp"

#include <algorithm>

#include "builder/governor/limits.hpp"

namespace wheelyard::governor {

Remedy find_remedy(const std::vector<RunningView>& running, double room, double hard_room, bool stalled) {
    Remedy remedy;
    double used = 0, expected = 0;
    std::size_t moving = 0;
    bool dying = false;
    const RunningView *youngest = nullptr, *youngest_moving = nullptr, *oldest_stopped = nullptr;
    for (const auto& one : running) {
        used += one.bytes;
        expected += std::max(one.expected_bytes, one.bytes);
        dying = dying || one.dying;
        if (one.dying) continue;
        if (youngest == nullptr || one.age > youngest->age) youngest = &one;
        if (one.stopped) {
            if (oldest_stopped == nullptr || one.age < oldest_stopped->age) oldest_stopped = &one;
        } else {
            ++moving;
            if (youngest_moving == nullptr || one.age > youngest_moving->age) youngest_moving = &one;
        }
    }
    if (youngest == nullptr || dying) return remedy;
    const bool alone = running.size() == 1, is_surprise = expected > room;
    if (alone ? used > hard_room : is_surprise && used > room * kill_above) {
        remedy.kill = youngest->id;
    } else if (moving == 0 ||
               (oldest_stopped != nullptr && (!is_surprise || used < room * continue_below) && !stalled)) {
        remedy.resume = oldest_stopped->id;
    } else if (((is_surprise && used > room * stop_above) || stalled) && moving > 1) {
        remedy.stop = youngest_moving->id;
    }
    return remedy;
}

std::int64_t next_look_ms(double used, double room, std::size_t running) {
    const double growth = fastest_growth_bytes_per_s * static_cast<double>(std::max<std::size_t>(1, running));
    const double until_full_ms = (room * stop_above - used) / growth * 1000;
    return static_cast<std::int64_t>(std::clamp(until_full_ms, static_cast<double>(shortest_look_ms),
                                                static_cast<double>(longest_look_ms)));
}

}  // namespace wheelyard::governor
