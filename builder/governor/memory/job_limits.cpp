// The table of batch systems whose jobs have a memory limit that is no cgroup's.
#include "builder/governor/memory/memory_limit.hpp"

#include <algorithm>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
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
