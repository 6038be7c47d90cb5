// A loop over two descriptors: the broker's socket and the signals.
#include "builder/governor/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "builder/governor/compile_command.hpp"
#include "builder/governor/compiler_process.hpp"
#include "builder/governor/limits.hpp"
#include "builder/governor/message.hpp"
#include "builder/governor/shims.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::array caught = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

// Below us nothing is governed again: nvcc's gcc, ccache's compiler, a link-time optimizer's processes are
// part of this compile.
void mark_held() {
    ::setenv(held_variable, "1", 1);
    ::setenv("PATH", path_without(environment("PATH"), shim_folder()).c_str(), 1);
}

[[noreturn]] void become(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    for (const auto& word : command)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    const int why = errno;
    std::fprintf(stderr, "wheelyard-governor: cannot run %s: %s\n", argv[0], ::strerror(why));
    ::_exit(why == ENOENT ? 127 : 126);
}

struct Ended {
    int status = 0;
    rusage usage{};
    bool interrupted = false;  // by a signal to us
    int signal_number = 0;
};

class Launcher {
  public:
    Launcher(std::vector<std::string> command, CompileCommand parsed)
        : command_(std::move(command)), parsed_(std::move(parsed)) {
        ::sigemptyset(&signals_);
        for (const int number : caught)
            ::sigaddset(&signals_, number);
    }

    [[noreturn]] void run(const std::string& socket_path) {
        ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
        signal_fd_ = base::Fd(::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
        if (auto socket = connect_to(socket_path)) {
            socket_ = std::move(*socket);
            if (ask()) governed();
        }
        ungoverned(socket_path);
    }

  private:
    bool ask() {
        const auto& facts = parsed_.facts;
        const auto compiler = find_real(command_[parsed_.compiler_at], environment("PATH"));
        return send_message(
            socket_.get(),
            {"ask", facts.source, facts.arguments, compiler.value_or(command_[parsed_.compiler_at]),
             facts.language, facts.architectures, std::to_string(facts.threads), parsed_.cached ? "1" : "0"});
    }

    // Tries until the result is final; returns only when the broker is gone and the compile has not ended.
    void governed() {
        while (wait_for_go()) {
            const Spool spool;
            const auto ended = one_try(spool);
            const bool good = WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0;
            const bool clue = !good && looks_killed_by_memory(ended.status, spool.tail());
            const auto cpu_ms = (ended.usage.ru_utime.tv_sec + ended.usage.ru_stime.tv_sec) * 1000 +
                                (ended.usage.ru_utime.tv_usec + ended.usage.ru_stime.tv_usec) / 1000;
            const bool told = send_message(
                socket_.get(), {"ended", std::to_string(ended.status), std::to_string(ended.usage.ru_maxrss),
                                std::to_string(cpu_ms), clue ? "1" : "0"});
            if (ended.interrupted) finish(spool, ended.signal_number);
            if (good || (!told && !clue)) finish(spool, ended.status);
            const auto answer = told ? verdict() : std::vector<std::string>{};
            if (answer.empty()) {
                if (clue) return;  // the broker died too; once more without it
                finish(spool, ended.status);
            }
            if (answer[0] == "again") continue;
            if (answer[0] == "fail" && answer.size() > 1) {
                spool.show();
                std::fprintf(stderr, "wheelyard-governor: %s\n", answer[1].c_str());
                exit_like(ended.status);
            }
            finish(spool, ended.status);
        }
    }

    // What the broker says of the end. What it sent before it heard of it (a "kill" crosses our "ended" when
    // the kernel was quicker) is meant for a process that is gone.
    std::vector<std::string> verdict() const {
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

    bool wait_for_go() {
        while (true) {
            std::array<pollfd, 2> watched{pollfd{socket_.get(), POLLIN, 0},
                                          pollfd{signal_fd_.get(), POLLIN, 0}};
            if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return false;
            if (const int number = next_signal(); number != 0 && number != SIGCHLD) exit_like(number);
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
        }
    }

    int next_signal() const {
        signalfd_siginfo info{};
        const auto got = ::read(signal_fd_.get(), &info, sizeof info);
        return got == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
    }

    // Runs the compiler once. We alone reap it, so its number and its group's stay valid while we signal
    // them.
    Ended one_try(const Spool& spool) {
        Ended ended;
        const pid_t pid = start_compiler(command_, spool, group_);
        if (pid < 0) {
            std::fprintf(stderr, "wheelyard-governor: cannot start a process: %s\n", ::strerror(errno));
            ended.status = 71 << 8;  // EX_OSERR of sysexits.h, as a wait status
            return ended;
        }
        if (socket_) socket_gone_ = !send_message(socket_.get(), {"started", std::to_string(pid)});
        int patience_ms = -1;
        while (true) {
            std::array<pollfd, 2> watched{pollfd{signal_fd_.get(), POLLIN, 0},
                                          pollfd{socket_gone_ ? -1 : socket_.get(), POLLIN, 0}};
            const int ready = ::poll(watched.data(), watched.size(), patience_ms);
            if (ready == 0) {
                ::kill(-pid, SIGKILL);
                patience_ms = -1;
            }
            for (int number = next_signal(); number != 0; number = next_signal()) {
                if (number == SIGCHLD) continue;
                ended.interrupted = true;
                ended.signal_number = number;
                ::kill(-pid, number);
                ::kill(-pid, SIGCONT);
                patience_ms = static_cast<int>(term_grace_ms);
            }
            if (watched[1].revents != 0) obey(pid, patience_ms);
            if (reap(pid, ended)) return ended;
        }
    }

    // What a compile that failed leaves running (a front end whose driver was killed) would write into the
    // next try's object: it ends while the driver, not reaped yet, keeps the group's number ours.
    static bool reap(pid_t pid, Ended& ended) {
        siginfo_t info{};
        if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != pid)
            return false;
        if (info.si_code != CLD_EXITED || info.si_status != 0) ::kill(-pid, SIGKILL);
        return ::wait4(pid, &ended.status, 0, &ended.usage) == pid;
    }

    void obey(pid_t pid, int& patience_ms) {
        const auto message = receive_message(socket_.get(), false);
        if (message.empty()) {
            if (errno != EAGAIN) {
                socket_gone_ = true;
                ::kill(-pid, SIGCONT);  // nobody would wake it
            }
        } else if (message[0] == "stop") {
            ::kill(-pid, SIGSTOP);
        } else if (message[0] == "continue") {
            ::kill(-pid, SIGCONT);
        } else if (message[0] == "kill") {
            // TERM first: the driver removes its temporary files, the front end dies at once.
            ::kill(-pid, SIGTERM);
            ::kill(-pid, SIGCONT);
            patience_ms = static_cast<int>(term_grace_ms);
        }
    }

    // Without a broker: a few at a time; what memory seems to have killed once more with all slots held.
    [[noreturn]] void ungoverned(const std::string& socket_path) {
        socket_.reset();
        socket_gone_ = true;
        const std::string folder = socket_path.substr(0, socket_path.rfind('/'));
        auto slot = take_slot(folder, static_cast<unsigned>(::getpid()) % fallback_slots);
        for (unsigned tries = 0;; ++tries) {
            const Spool spool;
            const auto ended = one_try(spool);
            if (ended.interrupted) finish(spool, ended.signal_number);
            if (tries > 0 || !looks_killed_by_memory(ended.status, spool.tail())) finish(spool, ended.status);
            slot.reset();
            for (unsigned i = 0; i < fallback_slots; ++i)
                all_slots_[i] = take_slot(folder, i);
        }
    }

    base::Fd take_slot(const std::string& folder, unsigned number) {
        ::sigprocmask(SIG_UNBLOCK, &signals_, nullptr);  // flock does not watch our signalfd
        const std::string path = folder + "/fallback." + std::to_string(number);
        base::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        while (fd && ::flock(fd.get(), LOCK_EX) != 0 && errno == EINTR) {
        }
        ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
        return fd;
    }

    std::vector<std::string> command_;
    CompileCommand parsed_;
    sigset_t signals_{};
    base::Fd signal_fd_, socket_;
    bool socket_gone_ = false;
    std::string group_;  // cgroup.procs of the compile's own cgroup
    std::array<base::Fd, fallback_slots> all_slots_;
};

}  // namespace

void run_launcher(std::vector<std::string> command) {
    if (command.empty()) {
        std::fprintf(stderr, "wheelyard-governor: launch has no command; launch -- COMPILER ARGUMENTS\n");
        ::_exit(2);
    }
    const std::string socket_path = environment(socket_variable);
    const bool held = std::getenv(held_variable) != nullptr;
    const std::string root = environment(root_variable);
    mark_held();
    if (socket_path.empty() || held) become(command);
    auto parsed = parse_compile_command(command, root);
    if (parsed.direct) become(command);
    Launcher(std::move(command), std::move(parsed)).run(socket_path);
}

void run_shim(const std::string& name, const std::vector<std::string>& arguments) {
    const std::string path = path_without(environment("PATH"), shim_folder());
    const auto real = find_real(name, path);
    if (!real) {
        std::fprintf(stderr, "wheelyard-governor: no %s further down PATH\n", name.c_str());
        ::_exit(127);
    }
    std::vector<std::string> command{*real};
    command.insert(command.end(), arguments.begin(), arguments.end());
    if (name == "ninja") {
        // Ninja reads no variable for its -j; where none is given it gets the window.
        bool given = false;
        for (const auto& word : arguments)
            given = given || word.starts_with("-j") || word == "-t" || word == "--version";
        const std::string jobs = environment(jobs_variable);
        if (!given && !jobs.empty() && std::getenv(socket_variable) != nullptr) {
            command.insert(command.begin() + 1, "-j" + jobs);
        }
        become(command);
    }
    run_launcher(std::move(command));
}

}  // namespace wheelyard::governor
