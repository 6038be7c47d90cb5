// Which errors may pass by themselves, and how long to wait before the next try.
#pragma once

#include <cstdint>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

// The network, the registry or the disk today: the attempt waits and tries the same step again, and nothing
// is lost.
[[nodiscard]] bool may_pass(const base::Error& error);

// Doubles with `tries` from `first_ms` to `most_ms`, with up to a quarter more so that many agents do not
// come back at once.
[[nodiscard]] std::int64_t delay_ms(int tries, std::int64_t first_ms, std::int64_t most_ms);

}  // namespace wheelyard::builder
