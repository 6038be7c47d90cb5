// How much memory the build may use: the minimum over all limits that apply, which are the cgroups from our
// own up to the root, the batch job, the --memory option and the machine's free memory.
//
// Each source has a cap and the bytes that processes other than our compiles use under it. The room of a
// source is cap − others − reserve; the smallest room is what concurrent compiles may use. Some limits only
// throttle (memory.high). A compile that runs alone may exceed those: for it, the smallest room among the
// limits that kill counts. Every source is read again each second, because limits and other use change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/governor/memory/cgroup.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::governor {

// The memory limit of the batch job around the build, where it is no cgroup's: one row for each batch system.
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

struct Room {
    double shared = 0;  // for all running compiles together
    double alone = 0;   // for a compile that runs alone; larger where the tightest limit only throttles
};

// The part of a limit that compiles leave free, in bytes.
[[nodiscard]] double reserve_of(double limit_bytes);

struct LimitSource {
    // "cgroup /sys/fs/cgroup/…", "memory.high of …", "Slurm", "PBS", "--memory", "free memory"
    std::string name;
    double cap_bytes = 0;
    double others_bytes = 0;  // used under this cap by processes other than our compiles
    bool kills = true;        // false: memory.high, which throttles
    // Bytes for compiles: cap − others − reserve, at least 0.
    [[nodiscard]] double room() const;
    // "1.5 GiB (Slurm)"
    [[nodiscard]] std::string text() const;
};

inline constexpr const char* free_memory_name = "free memory";  // LimitSource::name of the machine's memory

struct MemoryLimit {
    std::vector<LimitSource> sources;  // never empty
    LimitSource tightest;
    LimitSource tightest_killing;  // among the sources with `kills`; the tightest of all if there are none
};

class LimitReader {
  public:
    // `root` is prefixed to /proc and /sys; tests set it to a directory of recorded files.
    // `setting_bytes` is --memory, 0 if not set. `job_limits` is the result of read_job_limits().
    LimitReader(std::string root, std::uint64_t setting_bytes, std::vector<JobLimit> job_limits = {});
    // `own_bytes`: what our compiles use now, as the broker measured it.
    [[nodiscard]] MemoryLimit read(double own_bytes) const;
    // The sum of the OOM kills in our cgroups (every level counted) and on the machine.
    [[nodiscard]] std::uint64_t oom_kills() const;
    [[nodiscard]] const std::vector<Cgroup>& cgroups() const { return cgroups_; }
    [[nodiscard]] const std::string& root() const { return root_; }
    // CPU cores this process may use: the CPU affinity mask, limited by the cgroup quota.
    [[nodiscard]] unsigned cores() const;

  private:
    std::string root_;
    std::uint64_t setting_bytes_;
    std::vector<JobLimit> job_limits_;
    std::vector<Cgroup> cgroups_;
};

// "8G", "8GiB", "800M", "123456" (bytes); 1 K = 1024.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

// The limit that an option such as "--memory" sets. Below min_limit_bytes it is refused: "12" is meant as
// "12G".
[[nodiscard]] base::Result<std::uint64_t> parse_limit(const std::string& option, const std::string& text);

}  // namespace wheelyard::governor
