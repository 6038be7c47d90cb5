// What to do when compiles turn out larger than predicted. Pure.
//
// As long as what is used and what those that move are still expected to grow by fits, a full room is no
// surprise. Else, near the limit, the youngest is stopped: it has lost least, and a stopped compile grows no
// more. Nearer, so also where much has outgrown what was expected of it, or where so many stand still that
// their time is worth more than one compile's, it is killed and queued again, and nothing else is touched
// before it is gone. The reserve is never shared. As soon as it is expected to fit, or much memory is free,
// the oldest of the stopped goes on. One compile always runs; if it alone does not fit, it is killed too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "builder/governor/admission/admission.hpp"
#include "builder/governor/memory/room.hpp"

namespace wheelyard::governor {

struct RunningView {
    TryId id = 0;
    std::uint64_t age = 0;  // order of starting: larger is younger
    double bytes = 0;
    double expected_bytes = 0;  // its peak
    bool stopped = false;
    bool dying = false;  // told to end already
    [[nodiscard]] double growth() const { return std::max(0.0, expected_bytes - bytes); }
};

struct Remedy {
    std::optional<TryId> stop, resume, kill;
};

struct Marks {            // bytes
    double room = 0;      // what compiles may use
    double surprise = 0;  // more than this is expected of them: peaks were missed by more than is tolerated
    double outgrown = 0;  // by more than this some have outgrown what was expected, and may well go on to
    double alone = 0;     // what one may use that runs alone: all there is, the reserve too
};

// `limit`, `killing`: the tightest limit, and the tightest of those that kill (bytes).
[[nodiscard]] Marks marks_of(const Room& room, double limit, double killing);

// `stalled`: the kernel reports memory pressure.
[[nodiscard]] Remedy find_remedy(const std::vector<RunningView>& running, const Marks& marks,
                                 bool stalled = false);

// From one look at `used` bytes of `running` compiles to the next.
[[nodiscard]] std::int64_t next_look_ms(double used, double room, std::size_t running);

}  // namespace wheelyard::governor
