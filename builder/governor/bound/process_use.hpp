// What the descendants of a process use, as /proc shows it: processes of a namespace below it are among them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wheelyard::governor {

struct ProcessSeen {
    pid_t pid = 0;
    pid_t parent = 0;
    std::uint64_t threads = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t cpu_ms = 0;  // of it and of its children that it has waited for
};

// Every descendant of `root`. A process whose parent ends gets the nearest reaper above it for a parent (prctl(2),
// PR_SET_CHILD_SUBREAPER), so none leaves the tree of one that is a reaper.
[[nodiscard]] std::vector<ProcessSeen> descendants_of(pid_t root);
[[nodiscard]] std::uint64_t threads_of(const std::vector<ProcessSeen>& processes);

// The memory of the processes: shared pages once, where the sum of what each holds is above `limit`.
[[nodiscard]] std::uint64_t memory_of(const std::vector<ProcessSeen>& processes, std::uint64_t limit);

// Bytes of deleted files that the processes hold open, each file once: on disks, and in memory (memfd_create(2), tmpfs).
struct DeletedFiles {
    std::uint64_t disk_bytes = 0;
    std::uint64_t memory_bytes = 0;
};
[[nodiscard]] DeletedFiles deleted_files_of(const std::vector<ProcessSeen>& processes);

// A pipe that only processes without their parent can still write, and that another process waits to read to its end: pip
// waits so for a back end that started a daemon. `root` and the first process of each namespace are the parents of orphans;
// `command` is the child of `root` that is none.
struct HeldPipe {
    ino_t pipe = 0;
    pid_t reader = 0;
    std::vector<pid_t> holders;
};
[[nodiscard]] std::vector<HeldPipe> held_pipes(const std::vector<ProcessSeen>& processes, pid_t root,
                                               pid_t command);

// "MemAvailable" of the machine (proc(5)); UINT64_MAX: unknown.
[[nodiscard]] std::uint64_t available_memory();

// The threads of this process's user on the whole machine.
[[nodiscard]] std::uint64_t threads_of_user();

// The name in /proc/PID/comm; empty: the process is gone.
[[nodiscard]] std::string name_of(pid_t pid);

}  // namespace wheelyard::governor
