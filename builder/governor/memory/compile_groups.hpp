// One memory cgroup per running compile, where this user may create groups. The kernel then counts the memory
// of the whole process tree exactly, including daemonized processes, and attributes OOM kills to a compile.
//
//   /sys/fs/cgroup/memory/job_7                   our own group (version 1 path)
//   └── wheelyard-governor.4711                   the build's group; 4711 is the PID of `wheelyard-governor`
//       ├── 0                                     the group of one lane; reused by later compiles
//       └── 1
//
// Version 1 requires a writable own group with hierarchical accounting. Version 2 requires that this build is
// alone in a group delegated to it, because a group with processes cannot enable controllers for its children
// (cgroup-v2.rst, "No Internal Process Constraint"). Otherwise no group is created and the broker samples
// /proc (process_tree.hpp).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "builder/governor/memory/cgroup.hpp"

namespace wheelyard::governor {

struct GroupUse {
    double bytes = 0;       // now, without page cache
    double peak_bytes = 0;  // since the compile began, less the present page cache
};

class CompileGroups {
  public:
    CompileGroups() = default;
    // Creates the build's group below `own` (ordered from our own group up to the root) and checks that a
    // process may join it; on failure the result is not usable(). Call it before the build has other
    // processes: with version 2 the caller moves into a child group. `root` is prefixed to every path; tests
    // set it.
    [[nodiscard]] static CompileGroups make(const std::string& root, const std::vector<Cgroup>& own,
                                            pid_t build);
    CompileGroups(CompileGroups&& other) noexcept;
    CompileGroups& operator=(CompileGroups&&) = delete;
    // Removes the build's group and all groups below it that are empty. With version 2 the caller moves back
    // to its original group, whose settings are restored.
    ~CompileGroups();

    [[nodiscard]] bool usable() const { return !folder_.empty(); }
    // Prepares an empty group for `lane` and resets its peak. Returns the path of its cgroup.procs, "" on
    // failure.
    [[nodiscard]] std::string take(unsigned lane);
    [[nodiscard]] GroupUse use(unsigned lane) const;
    // OOM kills in the lane's group.
    [[nodiscard]] std::uint64_t kills(unsigned lane) const;
    void kill_all(unsigned lane) const;

  private:
    [[nodiscard]] bool delegate_memory();
    void undelegate_memory() const;
    [[nodiscard]] bool make_lane(unsigned lane);
    [[nodiscard]] bool is_empty(const Cgroup& group) const;

    std::string root_, own_, folder_;
    int version_ = 1;
    bool moved_ = false;  // version 2: this process moved into a child group
    unsigned made_ = 0;
    std::map<unsigned, Cgroup> lanes_;
};

// Removes the empty groups of governors that were killed: groups below any of `own` (our own and those above)
// whose process no longer exists. With version 2 the next build often runs in a sibling of the stale group.
void remove_stale_groups(const std::string& root, const std::vector<Cgroup>& own);

}  // namespace wheelyard::governor
