// Compares two totals of a pressure file.
#include "builder/governor/memory/memory_watch.hpp"

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {

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
