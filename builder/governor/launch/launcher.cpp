// The launcher: a poll loop over the broker's socket and a signalfd.
#include "builder/governor/launch/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "builder/governor/launch/compile_command.hpp"
#include "builder/governor/launch/compiler_cache.hpp"
#include "builder/governor/launch/compiler_process.hpp"
#include "builder/governor/launch/coverage.hpp"
#include "builder/governor/launch/interposer.hpp"
#include "builder/governor/launch/message.hpp"
#include "builder/governor/launch/shims.hpp"
#include "builder/governor/memory/limits.hpp"
#include "builder/governor/memory/memory_limit.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr int cancelled_check_ms = 200;  // between looks for the end of a build, without a broker

// Limits the -j of a make that cannot share its parent's jobserver: many such makes may run at once.
constexpr unsigned jobs_per_core_below = 2;
constexpr unsigned max_cache_lookups = 64;  // concurrent, and at most one per core: 2 MiB each

// Concurrent compiles when the broker is gone: few enough for memory, enough to make progress.
constexpr unsigned fallback_slots = 2;

constexpr std::array caught = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};

struct Ended {
    int status = 0;
    rusage usage{};
    bool interrupted = false;  // the launcher received a signal
    int signal_number = 0;
};

bool has_succeeded(int wait_status) {
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

class Launcher {
  public:
    Launcher(std::vector<std::string> command, CompileCommand parsed, std::optional<CompilerCache> cache,
             const std::string& socket_path)
        : command_(std::move(command)),
          parsed_(std::move(parsed)),
          cache_(std::move(cache)),
          socket_path_(socket_path),
          folder_(folder_of(socket_path)) {
        ::sigemptyset(&signals_);
        for (const int number : caught)
            ::sigaddset(&signals_, number);
    }

    [[noreturn]] void run() {
        ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
        sigset_t file_size;  // a file of ours beyond `ulimit -f` is an error of write(2), not our end
        ::sigemptyset(&file_size);
        ::sigaddset(&file_size, SIGXFSZ);
        ::sigprocmask(SIG_BLOCK, &file_size, nullptr);
        signal_fd_ = base::Fd(::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
        if (cache_ && parsed_.facts.language != "link") look_up_cache();  // links are not cached
        if (auto socket = connect_to(socket_path_)) {
            socket_ = std::move(*socket);
            if (ask()) run_governed();
        }
        run_ungoverned();
    }

  private:
    // Exits on a hit; returns on a miss.
    void look_up_cache() {
        const auto slot = take_any_slot(folder_, "cache.", cache_lookups());
        cache_->prepare_lookup();
        Spool spool(folder_);
        const auto ended = run_once(spool);
        if (ended.interrupted) finish(spool, ended.signal_number);
        if (!has_succeeded(ended.status)) return;
        if (const auto socket = connect_to(socket_path_)) (void)send_message(socket->get(), {"hit"});
        finish(spool, ended.status);
    }

    bool ask() {
        const auto& facts = parsed_.facts;
        const auto& name = parsed_.distributor.empty() ? command_[parsed_.compiler_at] : parsed_.distributor;
        const auto compiler = find_real(name, environment("PATH"));
        return send_message(socket_.get(),
                            {"ask", facts.source, facts.arguments, compiler.value_or(name), facts.language,
                             facts.architectures, std::to_string(facts.threads)});
    }

    // Retries until the result is final. Returns only if the broker is gone before that.
    void run_governed() {
        while (wait_for_go()) {
            Spool spool(folder_);
            if (cache_) cache_->prepare_compile();
            const auto ended = run_once(spool);
            const bool good = has_succeeded(ended.status);
            const bool clue = !good && looks_killed_by_memory(ended.status, spool.tail());
            const bool sent = send_message(
                socket_.get(), {"ended", std::to_string(ended.status), std::to_string(ended.usage.ru_maxrss),
                                clue ? "1" : "0", compiled()});
            if (ended.interrupted) finish(spool, ended.signal_number);
            if (good || (!sent && !clue)) finish(spool, ended.status);
            const auto answer = sent ? receive_decision() : std::vector<std::string>{};
            if (answer.empty()) {
                if (clue) return;  // the broker died as well; retry without it
                finish(spool, ended.status);
            }
            if (answer[0] == "again") continue;
            if (answer[0] == "fail" && answer.size() > 1) {
                spool.show();
                base::print(stderr, "wheelyard-governor: %s\n", answer[1].c_str());
                exit_like(ended.status);
            }
            finish(spool, ended.status);
        }
    }

    // The COMPILED field of "ended" (message.hpp).
    const char* compiled() const {
        if (cache_) return cache_->has_compiled() ? "1" : "0";
        return parsed_.cached ? "" : "1";
    }

    // The broker's answer to "ended". Skips what it sent before: a "kill" may cross our "ended".
    std::vector<std::string> receive_decision() const {
        while (true) {
            auto message = receive_message(socket_.get(), true);
            if (message.empty() || message[0] == "again" || message[0] == "fail" || message[0] == "done")
                return message;
        }
    }

    [[noreturn]] static void finish(const Spool& spool, int status) {
        spool.show();
        exit_like(status);
    }

    // Waits for "run"; false if the broker is gone.
    bool wait_for_go() {
        while (true) {
            std::array<pollfd, 2> watched{pollfd{socket_.get(), POLLIN, 0},
                                          pollfd{signal_fd_.get(), POLLIN, 0}};
            if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return false;
            if (const int number = next_signal(); is_interrupt(number)) exit_like(number);
            if ((watched[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
            const auto message = receive_message(socket_.get(), false);
            if (message.empty()) {
                if (errno == EAGAIN) continue;
                return false;
            }
            if (message[0] == "run") {
                group_ = message.size() > 1 ? message[1] : "";
                return true;
            }
            if (message[0] == "quit") exit_like(SIGTERM);  // the build was cancelled
        }
    }

    // A signalfd delivers a blocked signal even if it is ignored.
    static bool is_interrupt(int number) { return number != 0 && number != SIGCHLD && !is_ignored(number); }

    int next_signal() const {
        signalfd_siginfo info{};
        const auto got = ::read(signal_fd_.get(), &info, sizeof info);
        return got == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
    }

    // Runs the compiler once. Only this process reaps it, so its process group ID stays valid for signals.
    Ended run_once(Spool& spool) {
        if (was_stopped(socket_path_)) exit_like(SIGTERM);
        Ended ended;
        const pid_t pid = start_compiler(command_, spool, group_);
        spool.close_writers();
        if (pid < 0) {
            base::print(stderr, "wheelyard-governor: cannot start a process: %s\n", ::strerror(errno));
            ended.status = 71 << 8;  // EX_OSERR of sysexits.h, as a wait status
            return ended;
        }
        if (socket_) socket_gone_ = !send_message(socket_.get(), {"started", std::to_string(pid)});
        kill_at_.reset();
        bool was_ended = false;
        while (true) {
            const auto output = spool.readers();
            std::array<pollfd, 4> watched{pollfd{signal_fd_.get(), POLLIN, 0},
                                          pollfd{socket_gone_ ? -1 : socket_.get(), POLLIN, 0}, output[0],
                                          output[1]};
            ::poll(watched.data(), watched.size(), ms_until_check());
            if (is_deaf() && !kill_at_ && !was_ended && was_stopped(socket_path_)) was_ended = end_soon(pid);
            if (kill_at_ && ms_until_kill() == 0) {
                ::kill(-pid, SIGKILL);
                kill_at_.reset();
            }
            for (int number = next_signal(); number != 0; number = next_signal()) {
                if (!is_interrupt(number)) continue;
                ended.interrupted = true;
                ended.signal_number = number;
                ::kill(-pid, number);
                ::kill(-pid, SIGCONT);
                kill_soon();
            }
            if (watched[1].revents != 0) on_message(pid);
            const bool has_ended = reap(pid, ended);
            spool.take();  // after the end too: what the pipes hold then is the rest
            if (has_ended) return ended;
        }
    }

    void kill_soon() {
        kill_at_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(term_grace_ms);
    }

    // SIGTERM first, so that the driver removes its temporary files.
    bool end_soon(pid_t pid) {
        ::kill(-pid, SIGTERM);
        ::kill(-pid, SIGCONT);
        kill_soon();
        return true;
    }

    // Without a broker nobody says that the build was cancelled.
    [[nodiscard]] bool is_deaf() const { return socket_gone_ || !socket_; }

    [[nodiscard]] int ms_until_check() const {
        const int ms = ms_until_kill();
        return ms < 0 && is_deaf() ? cancelled_check_ms : ms;
    }

    // For poll(2): -1 while nothing is to be killed.
    [[nodiscard]] int ms_until_kill() const {
        if (!kill_at_) return -1;
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - std::chrono::steady_clock::now());
        return static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }

    // A failed compile may leave processes (a front end whose driver was killed) that would write into the
    // next try's object file. They are killed before the driver is reaped, while its group ID is still ours.
    static bool reap(pid_t pid, Ended& ended) {
        siginfo_t info{};
        if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != pid)
            return false;
        if (info.si_code != CLD_EXITED || info.si_status != 0) ::kill(-pid, SIGKILL);
        return ::wait4(pid, &ended.status, 0, &ended.usage) == pid;
    }

    void on_message(pid_t pid) {
        const auto message = receive_message(socket_.get(), false);
        if (message.empty()) {
            if (errno != EAGAIN) {
                socket_gone_ = true;
                ::kill(-pid, SIGCONT);  // no broker is left to continue it
            }
        } else if (message[0] == "stop") {
            ::kill(-pid, SIGSTOP);
        } else if (message[0] == "continue") {
            ::kill(-pid, SIGCONT);
        } else if (message[0] == "kill") {
            end_soon(pid);
        }
    }

    // Without a broker: runs in one of a few slots. A compile that memory seems to have killed, or that
    // failed while the kernel killed a process for memory, is retried once with all slots held.
    [[noreturn]] void run_ungoverned() {
        socket_.reset();
        socket_gone_ = true;
        group_.clear();
        const LimitReader limits("", 0);
        if (cache_) cache_->prepare_compile();
        auto slot = take_any_slot(folder_, "fallback.", fallback_slots);
        for (unsigned tries = 0;; ++tries) {
            Spool spool(folder_);
            const auto kills = limits.oom_kills();
            const auto ended = run_once(spool);
            if (ended.interrupted) finish(spool, ended.signal_number);
            const bool killed = looks_killed_by_memory(ended.status, spool.tail()) ||
                                (!has_succeeded(ended.status) && limits.oom_kills() > kills);
            if (tries > 0 || !killed) finish(spool, ended.status);
            slot.reset();
            for (unsigned i = 0; i < fallback_slots; ++i)
                all_slots_[i] = wait_for_slot(folder_ + "/fallback." + std::to_string(i));
        }
    }

    static unsigned cache_lookups() {
        const auto cores = base::parse_decimal(environment(cores_variable)).value_or(1);
        return static_cast<unsigned>(std::clamp<std::uint64_t>(cores, 1, max_cache_lookups));
    }

    static base::Fd open_slot(const std::string& path) {
        return base::Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    }

    // Takes a free slot, or waits for one of them.
    base::Fd take_any_slot(const std::string& folder, const char* name, unsigned count) const {
        for (unsigned i = 0; i < count; ++i) {
            auto fd = open_slot(folder + "/" + name + std::to_string(i));
            if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
        }
        // Spreads the waiters over the slots. Half of the PIDs belong to the shells around launchers.
        const auto mine = static_cast<unsigned>(::getpid()) / 2 % count;
        return wait_for_slot(folder + "/" + name + std::to_string(mine));
    }

    base::Fd wait_for_slot(const std::string& path) const {
        ::sigprocmask(SIG_UNBLOCK, &signals_, nullptr);  // flock(2) does not return for the signalfd
        auto fd = open_slot(path);
        while (fd && ::flock(fd.get(), LOCK_EX) != 0 && errno == EINTR) {
        }
        ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
        return fd;
    }

    std::vector<std::string> command_;
    CompileCommand parsed_;
    std::optional<CompilerCache> cache_;
    std::string socket_path_, folder_;
    sigset_t signals_{};
    base::Fd signal_fd_, socket_;
    bool socket_gone_ = false;
    std::optional<std::chrono::steady_clock::time_point> kill_at_;  // when SIGKILL follows a SIGTERM
    std::string group_;  // cgroup.procs of the compile's own cgroup
    std::array<base::Fd, fallback_slots> all_slots_;
};

std::uint64_t count_of(Jobs jobs, std::uint64_t window) {  // the cap, where -j must not be raised
    if (jobs == Jobs::one) return 1;
    const auto cores = base::parse_decimal(environment(cores_variable)).value_or(1);
    return jobs == Jobs::few ? std::min<std::uint64_t>(window, jobs_per_core_below * cores) : window;
}

// Where -j must not be raised, a larger one that is given becomes the cap: of two the last counts, so it
// comes last.
void cap_given_jobs(std::vector<std::string>& command, std::uint64_t cap) {
    const std::vector<std::string> arguments(command.begin() + 1, command.end());
    const auto given = given_jobs(is_ninja(name_of(command[0])), arguments);
    if (given && (*given == 0 || *given > cap))
        command.insert(std::find(command.begin() + 1, command.end(), "--"), "-j" + std::to_string(cap));
}

// Ninja and make read no variable for their -j, so a call without -j gets the window as an option.
[[noreturn]] void run_build_tool(std::vector<std::string> command, Jobs jobs) {
    const auto window = base::parse_decimal(environment(jobs_variable));
    if (window && std::getenv(socket_variable) != nullptr) {
        if (jobs != Jobs::as_given) {
            command.insert(command.begin() + 1, "-j" + std::to_string(count_of(jobs, *window)));
        } else if (std::getenv(capped_variable) != nullptr) {
            cap_given_jobs(command, *window);
        }
    }
    become(command);
}

// Says whether the descriptors of "3,4" are open, or the pipe of "fifo:PATH" exists.
bool is_open(std::string_view jobserver) {
    if (jobserver.starts_with("fifo:")) {
        return ::access(std::string(jobserver.substr(5)).c_str(), R_OK | W_OK) == 0;
    }
    const auto ends = base::split(jobserver, ',');
    return std::all_of(ends.begin(), ends.end(), [](std::string_view end) {
        const auto number = base::parse_decimal(end);
        return number && ::fcntl(static_cast<int>(*number), F_GETFD) >= 0;
    });
}

// Says whether what this make starts is known to pass through the launcher. Its own -j is 1.
bool may_raise_make(const std::vector<std::string>& command) {
    if (std::getenv(capped_variable) != nullptr || !is_dynamic(command[0])) return false;
    if (names_unknown_compiler({command.begin() + 1, command.end()})) return false;
    std::vector<std::string> variables;
    for (const auto& [name, value] : base::current_environment())
        variables.push_back(name + "=" + value);
    return !names_unknown_compiler(variables);
}

[[noreturn]] void run_make(std::vector<std::string> command) {
    MakeEnvironment make;
    make.flags = environment("MAKEFLAGS");
    make.below_ours = std::getenv(raised_variable) != nullptr;
    make.jobserver_open = is_open(jobserver_of(make.flags));
    auto jobs = jobs_for_make({command.begin() + 1, command.end()}, make);
    if (jobs == Jobs::window && !may_raise_make(command)) jobs = Jobs::as_given;
    if (jobs == Jobs::few || jobs == Jobs::one)
        ::setenv("MAKEFLAGS", without_jobserver(make.flags).c_str(), 1);
    if (jobs != Jobs::as_given) ::setenv(raised_variable, "1", 1);
    run_build_tool(std::move(command), jobs);
}

// A distributor that the command line does not name: one that masquerades as `compiler`, or that the cache
// runs before it. `program` is the resolved first word of the command.
std::string implicit_distributor(const std::string& compiler, const std::string& program,
                                 const std::optional<CompilerCache>& cache) {
    const auto first = name_of(program);
    if (is_distributor_name(first)) return program;
    if (!is_cache_name(first)) return {};
    const std::string prefix = cache ? cache->prefix_program() : CompilerCache::prefix_program_of(program);
    return is_distributor_name(name_of(prefix)) ? prefix
                                                : masquerading_distributor(compiler, environment("PATH"));
}

}  // namespace

void run_launcher(std::vector<std::string> command) {
    if (command.empty()) {
        base::print(stderr, "wheelyard-governor: launch needs a command: launch -- COMPILER ARGUMENTS\n");
        ::_exit(2);
    }
    if (std::getenv(probe_variable) != nullptr) answer_probe();
    const std::string socket_path = environment(socket_variable);
    const bool held = std::getenv(held_variable) != nullptr;
    const std::string root = environment(root_variable);
    command = bypass_shims(std::move(command), shim_folder(), environment("PATH"));
    mark_held();
    if (socket_path.empty() || held) become(command);
    auto parsed = parse_compile_command(command, root);
    if (parsed.direct) become(command);
    const auto program = resolved_program(command[0], environment("PATH"));
    parsed.cached = parsed.cached || is_cache_name(name_of(program));
    auto cache = CompilerCache::find(program, socket_path);
    if (parsed.distributor.empty()) {
        if (const auto distributor = implicit_distributor(command[parsed.compiler_at], program, cache);
            !distributor.empty())
            distribute(parsed, distributor);
    }
    Launcher(std::move(command), std::move(parsed), std::move(cache), socket_path).run();
}

void run_shim(const std::string& name, const std::vector<std::string>& arguments) {
    const std::string path = path_without(environment("PATH"), shim_folder());
    const auto real = find_real(name, path);
    if (!real) {
        base::print(stderr, "wheelyard-governor: %s: command not found\n", name.c_str());  // as a shell
        ::_exit(127);
    }
    std::vector<std::string> command{*real};
    command.insert(command.end(), arguments.begin(), arguments.end());
    if (is_ninja(name)) run_build_tool(std::move(command), jobs_for_ninja(arguments));
    if (is_make(name)) run_make(std::move(command));
    run_launcher(std::move(command));
}

}  // namespace wheelyard::governor
