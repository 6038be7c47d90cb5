// Reads every source of a memory limit and selects the tightest.
#include "builder/governor/memory/memory_limit.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/process/process.hpp"
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

// The table of batch systems whose jobs have a memory limit that is no cgroup's.
namespace {

constexpr std::int64_t qstat_timeout_ms = 10'000;  // a PBS server may be down

std::optional<std::uint64_t> decimal_in(const JobEnvironment& environment, const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : base::parse_decimal(found->second);
}

// Runs `qstat -f` for the job in PBS_JOBID.
std::optional<std::uint64_t> query_pbs_limit(const JobEnvironment& environment) {
    const auto job = environment.find("PBS_JOBID");
    if (job == environment.end() || job->second.empty() || job->second.front() == '-') return std::nullopt;
    base::Command command;
    command.argv = {"qstat", "-f", job->second};
    command.timeout_ms = qstat_timeout_ms;
    const auto finished = base::run_command(command);
    if (!finished || finished->exit_code != 0) return std::nullopt;
    return pbs_limit_bytes(finished->out, base::host_name());
}

struct Row {
    const char* batch_system;
    std::optional<std::uint64_t> (*limit_bytes)(const JobEnvironment& environment);
};
constexpr Row rows[] = {{"Slurm", slurm_limit_bytes}, {"PBS", query_pbs_limit}};

}  // namespace

std::vector<JobLimit> read_job_limits(const JobEnvironment& environment) {
    std::vector<JobLimit> limits;
    for (const Row& row : rows) {
        if (const auto bytes = row.limit_bytes(environment)) limits.push_back({row.batch_system, *bytes});
    }
    return limits;
}

std::optional<std::uint64_t> slurm_limit_bytes(const JobEnvironment& environment) {
    if (const auto node = decimal_in(environment, "SLURM_MEM_PER_NODE"); node && *node > 0)
        return *node * mib;
    if (const auto cpu = decimal_in(environment, "SLURM_MEM_PER_CPU"); cpu && *cpu > 0) {
        const auto on_node = decimal_in(environment, "SLURM_CPUS_ON_NODE");
        const auto per_task = decimal_in(environment, "SLURM_CPUS_PER_TASK");
        return *cpu * mib * std::max<std::uint64_t>(1, on_node.value_or(per_task.value_or(1)));
    }
    return std::nullopt;
}

std::optional<std::uint64_t> pbs_limit_bytes(std::string_view qstat, std::string_view host) {
    const std::string text = base::replace_all(qstat, "\n\t", "");  // plain output folds long lines
    const auto name = text.find("exec_vnode");
    const auto begin = name == std::string::npos ? name : text.find('(', name);
    if (begin == std::string::npos) return std::nullopt;
    const std::string_view chunks =
        std::string_view(text).substr(begin, text.find_first_of("\"\n", begin) - begin);
    const std::string_view short_host = host.substr(0, host.find('.'));
    std::uint64_t total = 0;
    for (auto chunk : base::split(chunks, '+')) {
        while (!chunk.empty() && (chunk.front() == '(' || chunk.back() == ')')) {
            chunk.front() == '(' ? chunk.remove_prefix(1) : chunk.remove_suffix(1);
        }
        const auto fields = base::split(chunk, ':');
        const auto vnode = fields[0].substr(0, fields[0].find_first_of(".["));
        if (vnode != short_host) continue;
        for (const auto field : fields) {
            if (!field.starts_with("mem=")) continue;
            total += parse_bytes(field.substr(4)).value_or(0);
        }
    }
    return total > 0 ? std::optional(total) : std::nullopt;
}

}  // namespace wheelyard::governor
