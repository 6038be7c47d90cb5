// Exponential backoff, and comparisons of times for a clock that may step back.
#pragma once

#include <cstdint>

#include "lib/base/clock.hpp"

namespace wheelyard::builder {

// The delay doubles with `tries` from `first_ms` to `max_ms`. Jitter of up to a quarter spreads the retries of many
// agents.
[[nodiscard]] std::int64_t backoff_delay_ms(int tries, std::int64_t first_ms, std::int64_t max_ms);

// Whether `when` has passed, for a wait of at most about `max_ms`. A later `when` also counts as passed: the clock has
// stepped back since it was written.
[[nodiscard]] bool is_due(base::UnixMicros now, base::UnixMicros when, std::int64_t max_ms);

// Whether `period_ms` have passed since `then`; a `then` in the future counts as long ago.
[[nodiscard]] bool has_passed(base::UnixMicros now, base::UnixMicros then, std::int64_t period_ms);

}  // namespace wheelyard::builder
