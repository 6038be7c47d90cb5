// Reads the limits, tracks the widest room and records the time of the last shortage.
#include "builder/governor/memory/memory_watch.hpp"

#include <algorithm>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

MemoryWatch::MemoryWatch(LimitReader limits)
    : limits_(std::move(limits)), machine_stall_(limits_.root() + "/proc/pressure/memory") {
    // The build's own group, not the child that delegate_memory() moved us into: compiles run in siblings.
    const auto& groups = limits_.cgroups();
    const auto whole = std::find_if(groups.begin(), groups.end(), [](const auto& group) {
        return group.path.find("/wheelyard-governor.") == std::string::npos;
    });
    if (whole != groups.end() && whole->version == 2)
        group_stall_ = StallMeter(limits_.root() + whole->path + "/memory.pressure");
}

bool MemoryWatch::is_stalled(std::int64_t now_ms) {
    const bool group = group_stall_.is_stalled(now_ms);
    const bool machine = limit_.tightest.name == free_memory_name && machine_stall_.is_stalled(now_ms);
    if (!group && !machine) return false;
    short_ms_ = now_ms;
    return was_ever_short_ = true;
}

void MemoryWatch::Widest::update(const LimitSource& source) {
    bytes = source.cap_bytes == cap ? std::max(bytes, source.room()) : source.room();
    cap = source.cap_bytes;
}

void MemoryWatch::read(double own_bytes, std::int64_t now_ms) {
    limit_ = limits_.read(own_bytes);
    widest_.update(limit_.tightest);
    widest_alone_.update(limit_.tightest_killing);
    read_ms_ = now_ms;
}

bool MemoryWatch::is_due(std::int64_t now_ms) const {
    return now_ms - read_ms_ >= reread_limits_ms;
}

bool MemoryWatch::note_use(double own_bytes, std::int64_t now_ms) {
    own_bytes_ = own_bytes;
    if (own_bytes <= room().shared * pressure_above) return false;
    short_ms_ = now_ms;
    was_ever_short_ = true;
    read(own_bytes, now_ms);
    return true;
}

bool MemoryWatch::was_short(std::int64_t now_ms) const {
    return was_ever_short_ && now_ms - short_ms_ < pressure_memory_ms;
}

}  // namespace wheelyard::governor
