// The memory limit of the batch job around the build, where it is no cgroup's: one row for each batch system.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::governor {

using JobEnvironment = std::map<std::string, std::string>;

struct JobLimit {
    std::string batch_system;  // "Slurm"
    std::uint64_t bytes = 0;
};
// The limits of this job, from its environment. May run qstat, so it is called once.
[[nodiscard]] std::vector<JobLimit> read_job_limits(const JobEnvironment& environment);

// From Slurm's variables, which are in MiB; "0" means the whole node (sbatch(1)).
[[nodiscard]] std::optional<std::uint64_t> slurm_limit_bytes(const JobEnvironment& environment);
// PBS exports no memory limit. The sum over the job's chunks on `host` in exec_vnode of `qstat -f` (plain or
// JSON), "(node7:ncpus=8:mem=20971520kb)+(node8:…)"; a vnode may be named "node7[0]".
[[nodiscard]] std::optional<std::uint64_t> pbs_limit_bytes(std::string_view qstat, std::string_view host);

}  // namespace wheelyard::governor
