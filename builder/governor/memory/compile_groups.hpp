// A memory cgroup for each running compile, where this user may make them: the kernel then counts its whole
// process tree exactly, those included that left it, and says whose process it killed.
//
//   our own group                    /sys/fs/cgroup/memory/job_7
//   └ ours, for this build           …/wheelyard-governor.4711
//     ├ of a lane, used again        …/wheelyard-governor.4711/0
//     └ …                            …/wheelyard-governor.4711/1
//
// Version 1: where our own group is writable and counts what is below it. Version 2: where this build is
// alone in a group that was delegated to it, since a group with processes of its own cannot pass controllers
// on (cgroup-v2.rst, "No Internal Process Constraint"). Everywhere else nothing is made, and processes are
// sampled instead.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "builder/governor/memory/cgroup.hpp"

namespace wheelyard::governor {

// What a compile's group says of it.
struct GroupUse {
    double bytes = 0;       // now, without page cache
    double peak_bytes = 0;  // since it began, less the page cache that is there now
};

class CompileGroups {
  public:
    CompileGroups() = default;
    // Makes the build's group below `own` (our groups, ours first) and tries a process in it; what cannot be
    // done leaves none. Called before there are other processes of the build: with version 2 the caller moves
    // into a child group. `root` stands before every path (tests).
    [[nodiscard]] static CompileGroups make(const std::string& root, const std::vector<Cgroup>& own,
                                            pid_t build);
    CompileGroups(CompileGroups&& other) noexcept;
    CompileGroups& operator=(CompileGroups&&) = delete;
    // Removes what is below the build's group, whoever made it, and the group, if they are empty; with
    // version 2 the caller moves back, and its group is as it was.
    ~CompileGroups();

    [[nodiscard]] bool usable() const { return !folder_.empty(); }
    // An empty group with its peak counted from now; the path of the file that a process joins it by, "" for
    // none.
    [[nodiscard]] std::string take(unsigned lane);
    [[nodiscard]] GroupUse use(unsigned lane) const;
    // The kernel's kills for memory in it.
    [[nodiscard]] std::uint64_t kills(unsigned lane) const;
    void kill_all(unsigned lane) const;

  private:
    [[nodiscard]] bool pass_memory_on();
    void take_memory_back() const;
    [[nodiscard]] bool make_lane(unsigned lane);
    [[nodiscard]] bool is_empty(const Cgroup& group) const;

    std::string root_, own_, folder_;
    int version_ = 1;
    bool moved_ = false;  // version 2: this process into a seat below `own_`
    unsigned made_ = 0;
    std::map<unsigned, Cgroup> lanes_;
};

// Removes what governors that were killed left below any of `own` (ours and those above it): empty groups of
// builds whose process is gone. With version 2 the next build often stands beside, not in, what is left.
void remove_stale_groups(const std::string& root, const std::vector<Cgroup>& own);

}  // namespace wheelyard::governor
