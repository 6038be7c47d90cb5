// How much memory the build may use, from everything that limits it: cgroups from our own up to the root, the
// batch job, a setting, and what is free on the machine.
//
// Each source names a cap and what is used under it already by others than our compiles; the room for
// compiles is the smallest cap − others − reserve. A compile that runs alone has more of it where the
// smallest only slows down (memory.high): there it has what the smallest of those that kill leaves. All of it
// is read again every second, since limits move and neighbours eat.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "builder/governor/memory/cgroup.hpp"

namespace wheelyard::governor {

[[nodiscard]] double reserve_of(double limit_bytes);

struct LimitSource {
    std::string name;  // "cgroup /sys/fs/cgroup/…", "SLURM_MEM_PER_NODE", "--memory", "MemAvailable"
    double cap_bytes = 0;
    double others_bytes = 0;  // used under this cap, but not by our compiles
    bool kills = true;        // what goes above it; false: memory.high, which holds it up
    // For compiles, less the reserve; at least 0.
    [[nodiscard]] double room() const;
    // "1.5 GiB (SLURM_MEM_PER_NODE)"
    [[nodiscard]] std::string text() const;
};

inline constexpr const char* free_memory_name = "free memory";  // the machine's

struct MemoryLimit {
    std::vector<LimitSource> sources;  // every one found
    LimitSource tightest;
    LimitSource tightest_killing;  // of those that kill
};

class LimitReader {
  public:
    // `pbs_bytes` is what PBS gave the job on this node (0: unknown or no such job), asked once by ask_pbs().
    // `root` is put before /proc and /sys ("" on a real machine; a folder of recorded files in tests);
    // `environment` is the job's; `setting_bytes` 0: none.
    LimitReader(std::string root, std::map<std::string, std::string> environment, std::uint64_t setting_bytes,
                std::uint64_t pbs_bytes = 0);
    // `own_bytes`: what our compiles use now, by our own count.
    [[nodiscard]] MemoryLimit read(double own_bytes) const;
    // The kernel's count of OOM kills in our cgroups (each level counted) and on the machine.
    [[nodiscard]] std::uint64_t oom_kills() const;
    [[nodiscard]] const std::vector<Cgroup>& cgroups() const { return cgroups_; }
    // How many cores we may use: affinity, cgroup quota.
    [[nodiscard]] unsigned cores() const;

  private:
    std::string root_;
    std::map<std::string, std::string> environment_;
    std::uint64_t setting_bytes_, pbs_bytes_;
    std::vector<Cgroup> cgroups_;
};

// Slurm writes MiB; "0" means the whole node (sbatch(1)).
[[nodiscard]] std::optional<std::uint64_t> slurm_limit_bytes(
    const std::map<std::string, std::string>& environment);
// PBS exports no memory: the job's chunks on `host` in what `qstat -f` (plain or JSON) says of exec_vnode,
// "(node7:ncpus=8:mem=20971520kb)+(node8:…)"; a vnode may be named "node7[0]".
[[nodiscard]] std::optional<std::uint64_t> pbs_limit_bytes(std::string_view qstat, std::string_view host);
// Runs `qstat -f` of the job that `environment` names; 0 without one, or without an answer.
[[nodiscard]] std::uint64_t ask_pbs(const std::map<std::string, std::string>& environment);
// "8G", "8GiB", "800M", "123456" (bytes); 1 K = 1024.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace wheelyard::governor
