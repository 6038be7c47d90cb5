// What to do when compiles turn out larger than predicted. Pure.
//
// As long as all that run stay within what they are expected to peak at, or what has outgrown that is made up
// for by the margin that admission left, a full room is no surprise. Else the youngest is stopped first: it
// has lost least, and a stopped compile grows no more. If that is not enough it is killed and queued again,
// and nothing else is touched before it is gone. When all of them, the stopped too, are expected to fit
// again, or much memory is free, the oldest of the stopped goes on. One compile always runs; if it alone does
// not fit, it is killed too.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "builder/governor/admission.hpp"

namespace wheelyard::governor {

struct RunningView {
    TryId id = 0;
    std::uint64_t age = 0;  // order of starting: larger is younger
    double bytes = 0;
    double expected_bytes = 0;  // its peak; never less than `bytes`
    bool stopped = false;
    bool dying = false;  // told to end already
};

struct Remedy {
    std::optional<TryId> stop, resume, kill;
};

// `room`: what compiles may use; `hard_room`: with the reserve; `stalled`: the kernel reports memory
// pressure.
[[nodiscard]] Remedy find_remedy(const std::vector<RunningView>& running, double room, double hard_room,
                                 bool stalled = false);

// From one look at `used` bytes of `running` compiles to the next.
[[nodiscard]] std::int64_t next_look_ms(double used, double room, std::size_t running);

}  // namespace wheelyard::governor
