// Control groups, version 1 and 2 (kernel documentation: admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst):
// this process's groups and their ancestors, with limits and use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::governor {

// Memory use of a group, in bytes.
struct CgroupUsage {
    std::uint64_t now = 0, peak = 0;  // both include page cache
    std::uint64_t cache = 0;          // page cache now

    // Use without the page cache, which the kernel can reclaim at once.
    [[nodiscard]] std::uint64_t used() const { return now > cache ? now - cache : 0; }
    // A lower bound: page cache that was gained after the peak is subtracted too.
    [[nodiscard]] std::uint64_t peak_without_cache() const { return peak > cache ? peak - cache : 0; }
};

// One level of the memory hierarchy: our own group or an ancestor.
struct Cgroup {
    int version = 2;
    std::string path;  // on this machine, without the `root` prefix of tests

    // The kernel kills above this limit. nullopt: unlimited or unreadable.
    [[nodiscard]] std::optional<std::uint64_t> limit(const std::string& root) const;
    // Version 2's memory.high: above it the kernel reclaims and throttles but does not kill (cgroup-v2.rst,
    // "Memory Interface Files").
    [[nodiscard]] std::optional<std::uint64_t> throttle_limit(const std::string& root) const;
    // CgroupUsage::used().
    [[nodiscard]] std::optional<std::uint64_t> used(const std::string& root) const;
    [[nodiscard]] std::optional<CgroupUsage> usage(const std::string& root) const;
    // Restarts the peak from the present use; false if the kernel does not support it (version 2).
    [[nodiscard]] bool reset_peak(const std::string& root) const;
    [[nodiscard]] std::uint64_t oom_kills(const std::string& root) const;
};

// The memory groups from the process's own up to the root of the mount. Empty if there are none.
[[nodiscard]] std::vector<Cgroup> find_memory_cgroups(const std::string& root);
// The minimum over all levels of pids.max − pids.current; nullopt: no limit.
[[nodiscard]] std::optional<std::uint64_t> free_pids(const std::string& root);
// The smallest CPU quota, in cores; nullopt: no quota.
[[nodiscard]] std::optional<double> cpu_quota(const std::string& root);

// Parsers, without I/O.
// The group of `controller` ("memory"; "" for version 2) in the text of /proc/self/cgroup.
[[nodiscard]] std::optional<std::string> group_of(std::string_view proc_self_cgroup,
                                                  std::string_view controller);
struct CgroupMount {
    std::string mount_point;
    std::string mount_root;  // the group at the top of the mount
};
// The mount of `controller` in the text of /proc/self/mountinfo (proc(5)); "" for version 2.
[[nodiscard]] std::optional<CgroupMount> mount_of(std::string_view mountinfo, std::string_view controller);
// The number on the line "name N", the format of memory.stat and memory.events.
[[nodiscard]] std::optional<std::uint64_t> field_of(std::string_view text, std::string_view name);

}  // namespace wheelyard::governor
