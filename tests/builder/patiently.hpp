// Waits for a step that runs in a separate process: on a slow machine it may still run after the first poll.
#pragma once

#include "lib/base/clock.hpp"

namespace wheelyard::builder::testing {

template <class Call>
auto patiently(base::Clock& clock, Call call) {
    constexpr int max_checks = 600;
    constexpr std::int64_t pause_ms = 100;
    auto result = call();
    for (int check = 0; check < max_checks && !result && result.error().kind == base::ErrorKind::in_progress;
         ++check) {
        clock.sleep_ms(pause_ms);
        result = call();
    }
    return result;
}

}  // namespace wheelyard::builder::testing
