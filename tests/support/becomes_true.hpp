// Waits for what another thread or process does.
#pragma once

#include "lib/base/clock.hpp"

namespace wheelyard::test_support {

// Whether `condition` returns true within at least a minute.
template <typename Condition>
[[nodiscard]] bool becomes_true(Condition condition) {
    base::SystemClock clock;
    constexpr int max_looks = 12'000;
    for (int look = 0; look < max_looks; ++look) {
        if (condition()) return true;
        clock.sleep_ms(5);
    }
    return false;
}

}  // namespace wheelyard::test_support
