// Exponential backoff, and comparisons of times for a clock that may step back.
#include "builder/attempt/held_queues.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("delays double up to the maximum, with at most a quarter of jitter") {
    const std::int64_t min_delay[] = {100, 200, 400, 800, 1000, 1000};
    for (int tries = 0; tries < 6; ++tries) {
        for (int count = 0; count < 50; ++count) {
            const std::int64_t delay = backoff_delay_ms(tries, 100, 1000);
            CHECK(delay >= min_delay[tries]);
            CHECK(delay <= min_delay[tries] * 5 / 4);
        }
    }
    CHECK(backoff_delay_ms(1000, 100, 1000) <= 1250);
}

TEST_CASE("a time too far in the future counts as passed, because the clock has stepped back") {
    constexpr base::UnixMicros now = 1'790'000'000'000'000;
    CHECK(is_due(now, now, 1000));
    CHECK(is_due(now, 0, 1000));
    CHECK(!is_due(now, now + 1'250'000, 1000));  // the longest wait with its jitter
    CHECK(is_due(now, now + 3'600'000'000, 1000));
    CHECK(!has_passed(now, now - 999'000, 1000));
    CHECK(has_passed(now, now - 1'000'000, 1000));
    CHECK(has_passed(now, now + 1, 1000));
}

}  // namespace
}  // namespace wheelyard::builder
