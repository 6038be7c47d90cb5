// Reads the limits, tracks the widest room and records the time of the last shortage.
#include "builder/governor/memory/memory_watch.hpp"

#include <algorithm>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

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

// Compares two totals of a pressure file.
std::optional<std::uint64_t> full_stall_us(std::string_view pressure) {
    for (const auto line : base::split_lines(pressure)) {
        if (!line.starts_with("full ")) continue;
        for (const auto word : base::split(line, ' ')) {
            if (word.starts_with("total=")) return base::parse_decimal(word.substr(6));
        }
    }
    return std::nullopt;
}

bool StallMeter::is_stalled(std::int64_t now_ms) {
    if (path_.empty() || (has_read_ && now_ms - read_ms_ < stall_window_ms)) return stalled_;
    const auto text = base::read_file(path_, max_proc_file_bytes);
    const auto total = text ? full_stall_us(*text) : std::nullopt;
    if (!total) return stalled_ = false;
    const double passed_us = static_cast<double>(now_ms - read_ms_) * 1000;
    stalled_ = has_read_ && *total > total_us_ &&
               static_cast<double>(*total - total_us_) > stall_fraction * passed_us;
    total_us_ = *total;
    read_ms_ = now_ms;
    has_read_ = true;
    return stalled_;
}

}  // namespace wheelyard::governor
