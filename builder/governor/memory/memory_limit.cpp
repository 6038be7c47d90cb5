// Reads every source of a memory limit and selects the tightest.
#include "builder/governor/memory/memory_limit.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

// A limit below this is a size without its unit.
constexpr std::uint64_t min_limit_bytes = mib;

// A line of /proc/meminfo: "MemAvailable:   23104 kB".
std::optional<double> meminfo_bytes(std::string_view meminfo, std::string_view name) {
    for (const auto line : base::split_lines(meminfo)) {
        if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
        auto value = base::trim(line.substr(name.size() + 1));
        if (value.ends_with(" kB")) value.remove_suffix(3);
        if (const auto number = base::parse_decimal(value)) return static_cast<double>(*number) * 1024;
    }
    return std::nullopt;
}

// The source that leaves the least room; with `killing`, among the limits that kill, if there is one.
const LimitSource& tightest_of(const std::vector<LimitSource>& sources, bool killing) {
    // Not LimitSource::room(): that stops at 0, and sources below 0 must still be ordered.
    const auto left = [](const LimitSource& source) {
        return source.cap_bytes - source.others_bytes - reserve_of(source.cap_bytes);
    };
    return *std::min_element(sources.begin(), sources.end(), [&](const auto& a, const auto& b) {
        if (killing && a.kills != b.kills) return a.kills;
        return left(a) < left(b);
    });
}

}  // namespace

double reserve_of(double limit_bytes) {
    return std::min(limit_bytes / 2, std::clamp(limit_bytes / static_cast<double>(reserve_divisor),
                                                static_cast<double>(min_reserve_bytes),
                                                static_cast<double>(max_reserve_bytes)));
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    std::size_t digits = 0;
    while (digits < text.size() && (base::is_ascii_digit(text[digits]) || text[digits] == '.'))
        ++digits;
    const std::string number(text.substr(0, digits));
    const std::string unit = base::ascii_lower(text.substr(digits));
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0') return std::nullopt;
    struct Row {
        const char* unit;
        double factor;
    };
    constexpr double k = 1024;
    for (const auto& [name, factor] :
         {Row{"", 1}, Row{"b", 1}, Row{"k", k}, Row{"kib", k}, Row{"kb", k}, Row{"m", k * k},
          Row{"mib", k * k}, Row{"mb", k * k}, Row{"g", k * k * k}, Row{"gib", k * k * k},
          Row{"gb", k * k * k}, Row{"t", k * k * k * k}, Row{"tib", k * k * k * k},
          Row{"tb", k * k * k * k}}) {
        if (unit != name) continue;
        const double bytes = value * factor;
        if (!(bytes >= 1 && bytes < 0x1p62)) return std::nullopt;
        return static_cast<std::uint64_t>(bytes);
    }
    return std::nullopt;
}

base::Result<std::uint64_t> parse_limit(const std::string& option, const std::string& text) {
    const auto bytes = parse_bytes(text);
    if (bytes && *bytes >= min_limit_bytes) return *bytes;
    return base::fail("governor.size", option + (bytes ? " is less than 1 MiB" : " is not a size"), text,
                      "write the unit, e.g. 12G: a number alone is in bytes");
}

LimitReader::LimitReader(std::string root, std::uint64_t setting_bytes, std::vector<JobLimit> job_limits)
    : root_(std::move(root)),
      setting_bytes_(setting_bytes),
      job_limits_(std::move(job_limits)),
      cgroups_(find_memory_cgroups(root_)) {}

MemoryLimit LimitReader::read(double own_bytes) const {
    MemoryLimit limit;
    const auto add = [&](std::string name, double cap, double used, bool kills = true) {
        limit.sources.push_back({std::move(name), cap, std::max(0.0, used - own_bytes), kills});
    };
    for (const auto& group : cgroups_) {
        const auto cap = group.limit(root_), throttle = group.throttle_limit(root_);
        if (!cap && !throttle) continue;
        const auto used = static_cast<double>(group.used(root_).value_or(0));
        if (cap) add("cgroup " + group.path, static_cast<double>(*cap), used);
        if (throttle) add("memory.high of " + group.path, static_cast<double>(*throttle), used, false);
    }
    for (const auto& [batch_system, bytes] : job_limits_)
        add(batch_system, static_cast<double>(bytes), own_bytes);
    if (setting_bytes_ > 0) add("--memory", static_cast<double>(setting_bytes_), own_bytes);
    const auto meminfo =
        base::read_file(root_ + "/proc/meminfo", max_proc_file_bytes).value_or(std::string());
    const auto total = meminfo_bytes(meminfo, "MemTotal");
    const auto available = meminfo_bytes(meminfo, "MemAvailable");
    if (total && available) add(free_memory_name, *total, std::max(0.0, *total - *available));
    if (limit.sources.empty()) limit.sources.push_back({"unknown", static_cast<double>(2 * gib), 0});
    limit.tightest = tightest_of(limit.sources, false);
    limit.tightest_killing = tightest_of(limit.sources, true);
    return limit;
}

double LimitSource::room() const {
    return std::max(0.0, cap_bytes - others_bytes - reserve_of(cap_bytes));
}

std::string LimitSource::text() const {
    return base::render_bytes(static_cast<std::uint64_t>(cap_bytes)) + " (" + name + ")";
}

std::uint64_t LimitReader::oom_kills() const {
    std::uint64_t kills = 0;
    for (const auto& group : cgroups_)
        kills += group.oom_kills(root_);
    if (const auto text = base::read_file(root_ + "/proc/vmstat", max_proc_file_bytes)) {
        kills += field_of(*text, "oom_kill").value_or(0);
    }
    return kills;
}

unsigned LimitReader::cores() const {
    cpu_set_t set;
    CPU_ZERO(&set);
    unsigned cores = 1;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) cores = static_cast<unsigned>(CPU_COUNT(&set));
    if (const auto quota = cpu_quota(root_)) {
        cores = std::min(cores, static_cast<unsigned>(std::max(1.0, std::ceil(*quota))));
    }
    return std::max(1u, cores);
}

}  // namespace wheelyard::governor
