// The loop that takes samples, passes output on and ends the command.
#include "builder/governor/bound/bound.hpp"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/base/files/fd.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::int64_t sample_ms = 100;          // between two samples of the processes
constexpr std::int64_t max_sample_ms = 1'000;    // where a sample takes long
constexpr std::int64_t sampling_share = 10;      // a sample takes at most this part of the time
constexpr std::int64_t disk_pause_ms = 1'000;    // between two walks through the folder
constexpr std::int64_t disk_slice_ms = 20;       // of a walk, between two samples of the processes
constexpr std::int64_t files_sample_ms = 1'000;  // between two samples of open files
constexpr std::int64_t kill_wait_ms = 30'000;    // for killed processes to end: one may wait for a disk
constexpr std::uint64_t max_files = 5'000'000;   // of a build: more exhaust file systems by their number

// The free space that a build leaves on its file system: deleted files that no process shows are in it, too.
constexpr std::uint64_t min_free_bytes = base::gib;

// The memory that a build leaves on its machine: what no process shows is in it, too (buffers of sockets,
// shared memory that no process has attached, a memfd of a process that hides its descriptors).
constexpr std::uint64_t min_available_bytes = 512 * base::mib;

volatile sig_atomic_t stop_signal = 0;

extern "C" void note_stop(int number) {
    stop_signal = number;
}

std::int64_t now_ms() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::uint64_t free_bytes(const std::filesystem::path& folder) {
    struct statvfs system {};
    if (::statvfs(folder.c_str(), &system) != 0) return UINT64_MAX;
    return std::uint64_t{system.f_bavail} * system.f_frsize;
}

void lower(decltype(RLIMIT_CORE) resource, std::uint64_t most) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) return;
    limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, limit.rlim_max);
    ::setrlimit(resource, &limit);
}

// RLIMIT_NPROC counts the threads of the user on the whole machine. The samples count those of the build
// alone, and end it first: this limit is for what starts between two of them.
void set_limits(const Bounds& bounds, std::uint64_t threads_of_others) {
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_NOFILE, max_descriptors);
    if (bounds.disk_bytes > 0) lower(RLIMIT_FSIZE, bounds.disk_bytes);
    if (bounds.processes > 0) lower(RLIMIT_NPROC, threads_of_others + 2 * bounds.processes);
    const base::Fd score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    constexpr std::string_view first_to_go = "1000";  // proc(5)
    if (score && ::write(score.get(), first_to_go.data(), first_to_go.size()) < 0) return;
}

// The keys of the agent's session, such as a Kerberos ticket (keyrings(7)): no namespace of bubblewrap hides
// them. What the kernel does not offer, or refuses altogether, the command has no use of either.
bool leave_session_keyring() {
    return ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0 || errno == ENOSYS ||
           errno == EPERM;
}

void reset_signals() {
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE})
        ::signal(number, SIG_DFL);
}

[[noreturn]] void exec_command(const std::vector<std::string>& command, const Bounds& bounds, pid_t parent,
                               int output, std::uint64_t threads_of_others) {
    // bubblewrap, too, dies with its parent (--die-with-parent), and its namespace with it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (::getppid() != parent) ::_exit(1);
    reset_signals();
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    set_limits(bounds, threads_of_others);
    if (!leave_session_keyring()) {
        base::print(stderr, "wheelyard-governor: cannot leave the keys of this session: errno %d\n", errno);
        ::_exit(127);
    }
    std::vector<char*> words;
    for (const auto& word : command)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    base::print(stderr, "wheelyard-governor: cannot start %s: errno %d\n", words[0], errno);
    ::_exit(127);
}

class BoundedRun {
  public:
    BoundedRun(const Bounds& bounds, pid_t command, base::Fd output)
        : bounds_(bounds), command_(command), output_(std::move(output)), walk_(bounds.folder) {
        if (bounds_.memory_bytes > 0)
            min_available_ = bounds_.machine_keeps_bytes > 0
                                 ? bounds_.machine_keeps_bytes
                                 : std::min(min_available_bytes, available_memory() / 4);
        if (bounds_.disk_bytes > 0) min_free_ = std::min(min_free_bytes, free_bytes(bounds_.folder) / 2);
    }

    [[nodiscard]] int to_the_end() {
        while (!status_ && over_.empty() && stop_signal == 0) {
            pass_output_on(sample_ms);
            reap();
            const std::int64_t began = now_ms();
            if (began < next_sample_) continue;
            sample();
            const std::int64_t took = now_ms() - began;
            next_sample_ = began + std::clamp(took * sampling_share, sample_ms, max_sample_ms);
        }
        end_everything();
        while (pass_output_on(0)) {
        }
        if (status_ && over_.empty() && bounds_.disk_bytes > 0) look_at_what_it_left();
        if (!over_.empty()) {
            base::print(stderr, "\n%s %s\n", over_limit_line, over_.c_str());
            return over_limit_exit_code;
        }
        if (!status_ || stop_signal != 0)
            return 128 + (stop_signal != 0 ? static_cast<int>(stop_signal) : SIGKILL);
        return WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
    }

  private:
    // Waits for output for at most `wait_ms`. Returns whether there may be more.
    bool pass_output_on(std::int64_t wait_ms) {
        pollfd ready{output_ ? output_.get() : -1, POLLIN, 0};
        if (::poll(&ready, 1, static_cast<int>(wait_ms)) <= 0 || ready.revents == 0) return false;
        std::array<char, 65536> buffer;
        const auto got = ::read(output_.get(), buffer.data(), buffer.size());
        if (got == 0) output_.reset();
        if (got <= 0) return false;
        idle_ms_ = 0;
        std::string_view text(buffer.data(), static_cast<std::size_t>(got));
        while (!text.empty()) {
            const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
            if (written < 0 && errno == EINTR && stop_signal == 0) continue;
            if (written <= 0) break;  // the disk of the log is full, for example: the build goes on
            text.remove_prefix(static_cast<std::size_t>(written));
        }
        return true;
    }

    // Returns whether a child is left.
    bool reap() {
        while (true) {
            int status = 0;
            const pid_t ended = ::waitpid(-1, &status, WNOHANG);
            if (ended < 0 && errno == EINTR) continue;
            if (ended < 0) return false;
            if (ended == 0) return true;
            if (ended == command_) status_ = status;
        }
    }

    void sample() {
        const auto processes = descendants_of(::getpid());
        look_at_processes(processes);
        const std::int64_t now = now_ms();
        if (bounds_.idle_seconds > 0) look_at_cpu(processes, now);
        if (now >= next_files_) {
            deleted_ = bounds_.disk_bytes > 0 || bounds_.memory_bytes > 0 ? deleted_files_of(processes)
                                                                          : DeletedFiles();
            if (bounds_.memory_bytes > 0 && deleted_.memory_bytes > bounds_.memory_bytes)
                exceed("memory", base::render_bytes(bounds_.memory_bytes));
            end_left_behind(processes, now);
            next_files_ = now + files_sample_ms;
        }
        if (bounds_.disk_bytes > 0) look_at_disk(now);
        if (bounds_.seconds > 0 && now - began_ > bounds_.seconds * 1000)
            exceed("time", base::render_duration_ms(bounds_.seconds * 1000));
    }

    void look_at_processes(const std::vector<ProcessSeen>& processes) {
        if (bounds_.processes > 0 && threads_of(processes) > bounds_.processes)
            exceed("processes and threads", std::to_string(bounds_.processes));
        if (bounds_.memory_bytes > 0 && memory_of(processes, bounds_.memory_bytes) > bounds_.memory_bytes)
            exceed("memory", base::render_bytes(bounds_.memory_bytes));
        if (bounds_.memory_bytes > 0 && available_memory() < min_available_)
            exceed("memory: its machine has less than " + base::render_bytes(min_available_) + " left", "");
    }

    // A program that polls uses some CPU. Time in which this process was stopped, too, does not count.
    void look_at_cpu(const std::vector<ProcessSeen>& processes, std::int64_t now) {
        const auto little_ms =
            static_cast<std::uint64_t>(std::min<std::int64_t>(1'000, bounds_.idle_seconds * 50));
        rusage reaped{};
        ::getrusage(RUSAGE_CHILDREN, &reaped);
        std::uint64_t used = 0;
        for (const timeval& time : {reaped.ru_utime, reaped.ru_stime})
            used += static_cast<std::uint64_t>(time.tv_sec) * 1000 +
                    static_cast<std::uint64_t>(time.tv_usec) / 1000;
        for (const ProcessSeen& process : processes)
            used += process.cpu_ms;
        idle_ms_ += std::min(now - looked_at_cpu_, 2 * max_sample_ms);
        looked_at_cpu_ = now;
        // Less than before: a process ended that nobody waits for.
        if (used < busy_cpu_ms_ || used - busy_cpu_ms_ >= little_ms) {
            busy_cpu_ms_ = used;
            idle_ms_ = 0;
        }
        if (idle_ms_ > bounds_.idle_seconds * 1000)
            exceed("time without output and CPU", base::render_duration_ms(bounds_.idle_seconds * 1000));
    }

    void look_at_disk(std::int64_t now) {
        if (now >= next_walk_ && walk_.advance(disk_slice_ms)) next_walk_ = now + disk_pause_ms;
        judge(walk_.so_far());
    }

    // A short command may write more than its limit between two walks.
    void look_at_what_it_left() {
        DiskWalk walk(bounds_.folder);
        deleted_ = {};
        for (bool whole = false; !whole && over_.empty() && stop_signal == 0;) {
            whole = walk.advance(disk_slice_ms);
            judge(walk.so_far());
        }
    }

    void judge(const DiskUse& use) {
        if (use.bytes + deleted_.disk_bytes > bounds_.disk_bytes)
            exceed("disk", base::render_bytes(bounds_.disk_bytes));
        if (use.files > max_files) exceed("files", std::to_string(max_files));
        if (use.is_too_deep) exceed("folders in one another", std::to_string(max_depth));
        if (free_bytes(bounds_.folder) < min_free_)
            exceed("disk: its file system has less than " + base::render_bytes(min_free_) + " left", "");
    }

    void end_left_behind(const std::vector<ProcessSeen>& processes, std::int64_t now) {
        std::map<ino_t, std::int64_t> since;
        for (const HeldPipe& held : held_pipes(processes, ::getpid(), command_)) {
            const auto known = held_since_.find(held.pipe);
            const std::int64_t first = since[held.pipe] = known == held_since_.end() ? now : known->second;
            if (now - first < bounds_.left_behind_s * 1000) continue;
            for (const pid_t holder : held.holders) {
                base::print(
                    stderr,
                    "\nwheelyard-governor: %s was left behind and held the output that %s reads; it was "
                    "ended\n",
                    name_of(holder).c_str(), name_of(held.reader).c_str());
                ::kill(holder, SIGKILL);
            }
        }
        held_since_ = std::move(since);
    }

    void exceed(const std::string& what, const std::string& limit) {
        if (over_.empty())
            over_ = limit.empty() ? "out of " + what : "more " + what + " than its limit of " + limit;
    }

    // The first process of a namespace takes the others with it; any other may start one while we look.
    void end_everything() {
        const std::int64_t until = now_ms() + kill_wait_ms;
        while (reap() && now_ms() < until) {
            for (const auto& process : descendants_of(::getpid()))
                ::kill(process.pid, SIGKILL);
            while (pass_output_on(1)) {
            }
        }
    }

    const Bounds& bounds_;
    pid_t command_;
    base::Fd output_;
    DiskWalk walk_;
    std::uint64_t min_free_ = 0;
    std::uint64_t min_available_ = 0;
    std::optional<int> status_ = {};
    std::string over_ = {};
    DeletedFiles deleted_ = {};
    std::map<ino_t, std::int64_t> held_since_ = {};
    std::int64_t began_ = now_ms();
    std::int64_t looked_at_cpu_ = began_, idle_ms_ = 0;
    std::uint64_t busy_cpu_ms_ = 0;  // when it was last seen at work
    std::int64_t next_sample_ = 0, next_files_ = 0, next_walk_ = 0;
};

}  // namespace

int run_bounded(const Bounds& bounds, const std::vector<std::string>& command) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    struct sigaction action {};
    action.sa_handler = note_stop;
    for (const int number : {SIGTERM, SIGINT, SIGHUP})
        ::sigaction(number, &action, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return 127;
    base::Fd read(ends[0]), write(ends[1]);
    const std::uint64_t threads_of_others = threads_of_user();
    const pid_t self = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return 127;
    if (pid == 0) exec_command(command, bounds, self, write.get(), threads_of_others);
    write.reset();
    return BoundedRun(bounds, pid, std::move(read)).to_the_end();
}

}  // namespace wheelyard::governor
