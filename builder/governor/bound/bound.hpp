// Runs a command within limits, to its end and that of every process that it started.
//
//     bound (adopts every orphan, prctl(2) PR_SET_CHILD_SUBREAPER) ─► bwrap ─► the build
//        └ ten times a second: processes, memory; once a second: disk, deleted files, what holds the output
//
// It passes the command's output on, so no process that outlives the command keeps what reads it waiting.
// Samples see what exceeds a limit; between them the kernel's own limits hold: RLIMIT_NPROC, RLIMIT_FSIZE,
// RLIMIT_NOFILE, and its choice when memory is short (oom_score_adj). What no process shows is seen by what
// is left of the machine's memory and disk. Where a cgroup confines the job, it does so as well.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace wheelyard::governor {

inline constexpr std::uint64_t max_descriptors = 4'096;  // of a process: a sample of open files reads each

struct Bounds {                   // 0: no limit
    std::uint64_t processes = 0;  // and threads
    std::uint64_t memory_bytes = 0;
    std::uint64_t machine_keeps_bytes = 0;  // with memory_bytes; 0: a share of what it has at the start
    std::uint64_t disk_bytes = 0;
    std::filesystem::path folder = {};  // what it writes; with disk_bytes
    std::int64_t seconds = 0;
    std::int64_t idle_seconds = 0;  // without output, and with less than a second of CPU
    // How long a process reads a pipe that only what was left behind can write, before that is ended.
    std::int64_t left_behind_s = 10;
};

// The exit status of `bound` when it ended the command because of a limit.
inline constexpr int over_limit_exit_code = 122;
// Begins the line that says so. The agent knows both (builder/attempt/job_files.hpp).
inline constexpr const char* over_limit_line = "wheelyard-governor: the build was ended:";

// Returns the command's exit status, 128 + N after signal N, 127 if it cannot be started. SIGTERM, SIGINT and
// SIGHUP end everything.
[[nodiscard]] int run_bounded(const Bounds& bounds, const std::vector<std::string>& command);

inline constexpr std::size_t max_depth = 256;  // of folders in one another; each is a descriptor of the walk

struct DiskUse {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;   // and folders
    bool is_too_deep = false;  // folders beyond max_depth in one another are not counted
};

class DiskWalk {
  public:
    explicit DiskWalk(std::filesystem::path folder);
    // Goes on for at most `slice_ms`. Returns whether the walk is complete; the next call begins another.
    [[nodiscard]] bool advance(std::int64_t slice_ms);
    // A lower bound until the walk ends, which is enough to see that a limit is exceeded. Folders that cannot
    // be opened are not counted.
    [[nodiscard]] const DiskUse& so_far() const { return use_; }

  private:
    struct CloseFolder {
        void operator()(DIR* folder) const { ::closedir(folder); }
    };
    void enter(int parent, const char* name);
    void count(const struct stat& status);

    std::filesystem::path folder_;
    std::vector<std::unique_ptr<DIR, CloseFolder>> open_ = {};  // from the folder down to where the walk is
    std::set<std::pair<dev_t, ino_t>> linked_ = {};             // files with several names
    DiskUse use_ = {};
};

struct ProcessSeen {
    pid_t pid = 0;
    pid_t parent = 0;
    std::uint64_t threads = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t cpu_ms = 0;  // of it and of its children that it has waited for
};

// Every descendant of `root`. A process whose parent ends gets the nearest reaper above it for a parent
// (prctl(2), PR_SET_CHILD_SUBREAPER), so none leaves the tree of one that is a reaper.
[[nodiscard]] std::vector<ProcessSeen> descendants_of(pid_t root);
[[nodiscard]] std::uint64_t threads_of(const std::vector<ProcessSeen>& processes);

// The memory of the processes: shared pages once, where the sum of what each holds is above `limit`.
[[nodiscard]] std::uint64_t memory_of(const std::vector<ProcessSeen>& processes, std::uint64_t limit);

// Bytes of deleted files that the processes hold open, each file once: on disks, and in memory
// (memfd_create(2), tmpfs).
struct DeletedFiles {
    std::uint64_t disk_bytes = 0;
    std::uint64_t memory_bytes = 0;
};
[[nodiscard]] DeletedFiles deleted_files_of(const std::vector<ProcessSeen>& processes);

// A pipe that only processes without their parent can still write, and that another process waits to read to
// its end: pip waits so for a back end that started a daemon. `root` and the first process of each namespace
// are the parents of orphans; `command` is the child of `root` that is none.
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
