#include "builder/attempt/backoff.hpp"

#include <algorithm>

#include "lib/base/digest/digest.hpp"

namespace wheelyard::builder {

bool is_due(base::UnixMicros now, base::UnixMicros when, std::int64_t max_ms) {
    constexpr std::int64_t with_jitter = 2;  // backoff_delay_ms adds up to a quarter
    return when <= now || when - now > max_ms * 1000 * with_jitter;
}

bool has_passed(base::UnixMicros now, base::UnixMicros then, std::int64_t period_ms) {
    return now < then || now - then >= period_ms * 1000;
}

std::int64_t backoff_delay_ms(int tries, std::int64_t first_ms, std::int64_t max_ms) {
    constexpr int max_doublings = 20;
    const std::int64_t delay = std::min(max_ms, first_ms << std::clamp(tries, 0, max_doublings));
    const auto random = static_cast<unsigned char>(base::random_bytes(1)[0]);
    return delay + delay * random / 1024;
}

}  // namespace wheelyard::builder
