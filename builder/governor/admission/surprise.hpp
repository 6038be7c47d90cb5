// Decides what to do when compiles use more memory than predicted. Pure.
//
// It is a surprise if use plus the expected growth of the active (not stopped) compiles does not fit; a full
// room alone is not. Each sample leads to at most one step, the first in this table whose condition holds:
//
//   condition                                                           step
//   a killed compile has not ended yet                                  wait
//   use > room; or > kill_above, with a surprise or a large overrun;
//     or > stop_above, with a surprise and too many stopped already     kill the youngest and queue it again
//   none is active; or, without memory pressure, the oldest stopped
//     fits or use < resume_below                                        resume the oldest stopped
//   use > stop_above, with a surprise; or memory pressure               stop the youngest active
//
// The youngest compile loses the least work. The last active compile is never stopped. A compile that runs
// alone may use the reserve too and is killed above that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "builder/governor/admission/admission.hpp"
#include "builder/governor/memory/limits.hpp"
#include "builder/governor/memory/memory_limit.hpp"

namespace wheelyard::governor {

// Interval between two samples of memory: short enough that compiles cannot fill the room in between, even if
// each allocates as fast as the kernel clears pages.
inline constexpr double fastest_growth_bytes_per_s = 2.0 * gib;  // per compile
inline constexpr std::int64_t min_sample_ms = 50;
inline constexpr std::int64_t max_sample_ms = 500;

// A surprise: use plus expected growth exceeds the room by more than tolerated_fraction of the reserve, or
// compiles exceed their predictions by more than overrun_fraction of it in total. The limits below are parts
// of the room.
inline constexpr double tolerated_fraction = 0.25;
inline constexpr double overrun_fraction = 0.75;    // leads to a kill only, not to a stop
inline constexpr double stop_above = 0.95;          // stop the youngest …
inline constexpr unsigned max_stopped_divisor = 3;  // … or kill it, if more than 1/3 of them are stopped
inline constexpr double kill_above = 0.985;         // kill the youngest and queue it again
inline constexpr double resume_below = 0.85;        // resume the oldest stopped even if it may not fit

struct RunningView {
    TryId id = 0;
    std::uint64_t age = 0;  // order of starting: larger is younger
    double bytes = 0;
    double expected_bytes = 0;  // predicted peak
    bool stopped = false;
    bool dying = false;  // was sent a kill and has not ended yet
    [[nodiscard]] double growth() const { return std::max(0.0, expected_bytes - bytes); }
};

// At most one of them is set.
struct Remedy {
    std::optional<TryId> stop, resume, kill;
};

struct Thresholds {       // bytes
    double room = 0;      // what compiles may use
    double surprise = 0;  // use plus expected growth above this is a surprise
    double overrun = 0;   // use beyond the predictions, summed, above which more overruns are likely
    double alone = 0;     // what a compile that runs alone may use: the room and the reserve
};

// `limit_bytes`: the tightest limit. `killing_bytes`: the tightest limit that kills.
[[nodiscard]] Thresholds thresholds_of(const Room& room, double limit_bytes, double killing_bytes);

// `stalled`: the kernel reports memory pressure.
[[nodiscard]] Remedy find_remedy(const std::vector<RunningView>& running, const Thresholds& thresholds,
                                 bool stalled = false);

// The interval to the next sample while `running` compiles use `used_bytes`.
[[nodiscard]] std::int64_t next_sample_ms(double used_bytes, double room_bytes, std::size_t running);

}  // namespace wheelyard::governor
