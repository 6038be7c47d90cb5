#include "lib/store/nodes/node_clock.hpp"

#include <ctime>

namespace wheelyard::nodes {
namespace {

std::int64_t read_clock_us(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

std::int64_t SystemNodeClock::boot_us() const {
    return read_clock_us(CLOCK_BOOTTIME);
}

std::int64_t SystemNodeClock::wall_us() const {
    return read_clock_us(CLOCK_REALTIME);
}

}  // namespace wheelyard::nodes
