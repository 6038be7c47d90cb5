// How long to wait before the next try, and whether a time has come by a clock that may step back.
#pragma once

#include <cstdint>

#include "lib/base/clock.hpp"

namespace wheelyard::builder {

// Doubles with `tries` from `first_ms` to `max_ms`, with up to a quarter more so that many agents do not
// come back at once.
[[nodiscard]] std::int64_t backoff_delay_ms(int tries, std::int64_t first_ms, std::int64_t max_ms);

// Whether `when` has come, for a wait of at most about `max_ms`: a time further ahead was written by a clock
// that has stepped back since.
[[nodiscard]] bool is_due(base::UnixMicros now, base::UnixMicros when, std::int64_t max_ms);

// Whether `period_ms` have passed since `then`; a `then` that lies ahead counts as long ago.
[[nodiscard]] bool has_passed(base::UnixMicros now, base::UnixMicros then, std::int64_t period_ms);

}  // namespace wheelyard::builder
