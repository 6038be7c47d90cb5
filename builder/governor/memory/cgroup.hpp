// Control groups, version 1 and 2 (kernel documentation: admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst):
// where this process stands, and what each level up to the root says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::governor {

// What a group uses, in bytes.
struct CgroupUsage {
    std::uint64_t now = 0, peak = 0;  // both with page cache
    std::uint64_t cache = 0;          // now

    // What cannot be reclaimed at once.
    [[nodiscard]] std::uint64_t used() const { return now > cache ? now - cache : 0; }
    // A lower bound that is off by the page cache gained since the peak.
    [[nodiscard]] std::uint64_t peak_without_cache() const { return peak > cache ? peak - cache : 0; }
};

// One level of the memory hierarchy as seen by a process: our own group or one above it.
struct Cgroup {
    int version = 2;
    std::string path;  // as seen on this machine, without the test's root prefix

    // Above it the kernel kills; nullopt: unlimited or unreadable.
    [[nodiscard]] std::optional<std::uint64_t> limit(const std::string& root) const;
    // Version 2's memory.high: above it the kernel reclaims and holds processes up, and kills none
    // (cgroup-v2.rst, "Memory Interface Files").
    [[nodiscard]] std::optional<std::uint64_t> slowing_limit(const std::string& root) const;
    // What cannot be reclaimed at once: usage without the page cache.
    [[nodiscard]] std::optional<std::uint64_t> used(const std::string& root) const;
    [[nodiscard]] std::optional<CgroupUsage> usage(const std::string& root) const;
    // Counts the peak from now; false where the kernel cannot.
    [[nodiscard]] bool reset_peak(const std::string& root) const;
    [[nodiscard]] std::uint64_t oom_kills(const std::string& root) const;
};

// From the process's own group up to the root of the mount, for the memory controller. Empty when there is
// none.
[[nodiscard]] std::vector<Cgroup> find_memory_cgroups(const std::string& root);
// The smallest `pids.max` on the way to the root less what is used there; nullopt: no limit.
[[nodiscard]] std::optional<std::uint64_t> free_pids(const std::string& root);
// The smallest CPU quota, in cores; nullopt: none.
[[nodiscard]] std::optional<double> cpu_quota(const std::string& root);

// Pure parts.
// The group of `controller` ("memory"; "" for v2's) in the text of /proc/self/cgroup.
[[nodiscard]] std::optional<std::string> group_of(std::string_view proc_self_cgroup,
                                                  std::string_view controller);
struct CgroupMount {
    std::string mount_point;
    std::string mount_root;  // the group that the mount shows at its top
};
// The mount of `controller` in the text of /proc/self/mountinfo (proc(5)); "" for v2.
[[nodiscard]] std::optional<CgroupMount> mount_of(std::string_view mountinfo, std::string_view controller);
// "name N" lines, as of memory.stat and memory.events.
[[nodiscard]] std::optional<std::uint64_t> field_of(std::string_view text, std::string_view name);

}  // namespace wheelyard::governor
