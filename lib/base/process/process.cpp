// Child processes with fork and exec. Between the two only async-signal-safe calls are allowed
// (signal-safety(7)): another thread may hold any lock at the moment of the fork.
#include "lib/base/process/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

extern char** environ;

namespace wheelyard::base {
namespace {

// How long to read output after the program has ended: its children may hold the pipes open.
constexpr std::int64_t straggler_ms = 1000;
// Maximum interval between checks whether a program that closed its output has ended.
constexpr std::int64_t max_wait_step_ms = 20;
constexpr int status_is_lost = 127;

std::int64_t monotonic_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

struct Pipe {
    Fd read, write;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe", "", errno);
    Pipe pipe;
    pipe.read = Fd(ends[0]);
    pipe.write = Fd(ends[1]);
    return pipe;
}

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> find_in(const std::string& program, std::string_view search_path) {
    if (program.empty()) return std::nullopt;
    if (program.find('/') != std::string::npos)
        return is_program(program) ? std::optional(fs::path(program)) : std::nullopt;
    for (const auto folder : split(search_path, ':')) {
        const auto candidate = fs::absolute(folder.empty() ? "." : fs::path(folder)) / program;
        if (is_program(candidate)) return candidate;
    }
    return std::nullopt;
}

std::string own_search_path() {
    const char* path = std::getenv("PATH");
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

// close_range(2) of all but the standard streams, by number: older headers lack it, and older kernels reject
// it.
bool close_range_above(unsigned flags) {
    constexpr long close_range_number = 436;
    constexpr unsigned first = 3, last = ~0u;
    return ::syscall(close_range_number, first, last, flags) == 0;
}
constexpr int max_open = 1024;  // descriptors that are closed one by one on an older kernel

// For a child that outlives us: an inherited pipe without FD_CLOEXEC would otherwise never reach its end.
void close_others_at_exec() {
    constexpr unsigned cloexec = 4;  // CLOSE_RANGE_CLOEXEC
    if (close_range_above(cloexec)) return;
    for (int number = 3; number < max_open; ++number)
        ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

void close_others() {
    if (close_range_above(0)) return;
    for (int number = 3; number < max_open; ++number)
        ::close(number);
}

// Everything that exec needs, allocated before the fork.
class Launch {
  public:
    [[nodiscard]] static Result<Launch> prepare(const Command& command) {
        Launch launch;
        if (command.argv.empty()) return fail("process.not_found", "The command is empty");
        launch.program_ = command.argv[0];
        // A name with a slash is resolved relative to `directory`, as in a shell after `cd`.
        if (launch.program_.find('/') == std::string::npos) {
            auto search_path = own_search_path();
            if (command.environment && command.environment->contains("PATH")) {
                search_path = command.environment->at("PATH");
            }
            const auto found = find_in(launch.program_, search_path);
            if (!found) {
                return fail("process.not_found", "This program is not on PATH", launch.program_,
                            "install it, or add its folder to PATH");
            }
            launch.program_ = found->native();
        }
        launch.directory_ = command.directory.native();
        launch.words_ = command.argv;
        if (command.environment) {
            for (const auto& [name, value] : *command.environment)
                launch.settings_.push_back(name + "=" + value);
        }
        launch.inherits_ = !command.environment;
        return launch;
    }

    // Runs in the child and never returns. A failure is written to `report` as {stage, errno}.
    [[noreturn]] void exec(int in, int out, int err, int report) const {
        // Move the descriptors above 2 first: if the caller was started without standard streams, they may be
        // 0 to 2.
        for (int* number : {&in, &out, &err, &report}) {
            if (*number < 3) *number = ::fcntl(*number, F_DUPFD_CLOEXEC, 3);
        }
        ::dup2(in, 0);
        ::dup2(out, 1);
        ::dup2(err, 2);
        struct sigaction standard {};
        standard.sa_handler = SIG_DFL;
        for (int number = 1; number < 32; ++number)
            ::sigaction(number, &standard, nullptr);
        sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        int failure[2] = {stage_directory, 0};
        if (directory_.empty() || ::chdir(directory_.c_str()) == 0) {
            failure[0] = stage_exec;
            ::execve(program_.c_str(), const_cast<char**>(argv_.data()),
                     inherits_ ? environ : const_cast<char**>(envp_.data()));
        }
        failure[1] = errno;
        [[maybe_unused]] const auto written = ::write(report, failure, sizeof failure);
        ::_exit(127);
    }

    // Fills argv_ and envp_ with pointers to this object's strings: call once, and do not move the object
    // afterwards.
    void lay_out() {
        for (auto& word : words_)
            argv_.push_back(word.data());
        argv_.push_back(nullptr);
        for (auto& setting : settings_)
            envp_.push_back(setting.data());
        envp_.push_back(nullptr);
    }

    // Waits until exec has succeeded (end of file) or failed.
    [[nodiscard]] Status outcome(int report) const {
        int failure[2] = {0, 0};
        ssize_t got = 0;
        do
            got = ::read(report, failure, sizeof failure);
        while (got < 0 && errno == EINTR);
        if (got != static_cast<ssize_t>(sizeof failure)) return {};
        if (failure[0] == stage_directory)
            return fail_errno("changing to the folder", directory_, failure[1]);
        return fail_errno("starting the program", program_, failure[1]);
    }

  private:
    static constexpr int stage_directory = 1;
    static constexpr int stage_exec = 2;
    std::string program_, directory_;
    std::vector<std::string> words_, settings_;
    std::vector<char*> argv_, envp_;
    bool inherits_ = true;
};

// Standard input as an in-memory file, so that feeding it can never block. Empty input: /dev/null.
Result<Fd> input_file(const std::string& input) {
    if (input.empty()) return open_read("/dev/null");
    Fd fd(::memfd_create("input", MFD_CLOEXEC));
    if (!fd) return fail_errno("memfd_create", "", errno);
    WHEELYARD_TRY(write_all(fd.get(), input));
    if (::lseek(fd.get(), 0, SEEK_SET) != 0) return fail_errno("lseek", "", errno);
    return fd;
}

using TakeOutput = std::function<bool(std::string_view)>;

struct Stream {
    Fd fd;
    TakeOutput take;
};

// Keeps at most `limit` bytes.
TakeOutput append_to(std::string& text, std::uint64_t limit) {
    return [&text, limit](std::string_view piece) {
        text += piece.substr(0, limit - std::min<std::uint64_t>(limit, text.size()));
        return true;
    };
}

// Reads what is available; closes the stream at its end. False: the taker wants no more.
bool take(Stream& stream) {
    char chunk[64 << 10];
    const auto got = ::read(stream.fd.get(), chunk, sizeof chunk);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (got > 0 && stream.take({chunk, static_cast<std::size_t>(got)})) return true;
    stream.fd.reset();
    return got <= 0;
}

// One run of a child that leads its own process group.
class Run {
  public:
    Run(pid_t pid, const Command& command) : pid_(pid), command_(command) {
        if (command.timeout_ms > 0) deadline_ = monotonic_ms() + command.timeout_ms;
    }

    Finished finish(Fd out, Fd err) {
        const std::uint64_t limit = command_.output_limit_bytes;
        streams_[0] = {std::move(out),
                       command_.take_output ? command_.take_output : append_to(finished_.out, limit)};
        streams_[1] = {std::move(err), append_to(finished_.err, limit)};
        while (streams_[0].fd || streams_[1].fd) {
            poll_streams();
            enforce_deadline();
            check_ended();
            if (ended_ && monotonic_ms() >= *ended_ + straggler_ms) break;
        }
        for (std::int64_t step_ms = 1; !ended_;) {
            enforce_deadline();
            check_ended();
            if (ended_) break;
            const timespec pause{0, step_ms * 1'000'000};
            ::nanosleep(&pause, nullptr);
            step_ms = std::min(step_ms * 2, max_wait_step_ms);
        }
        return std::move(finished_);
    }

  private:
    void poll_streams() {
        pollfd polled[2];
        for (std::size_t i = 0; i < 2; ++i)
            polled[i] = {streams_[i].fd ? streams_[i].fd.get() : -1, POLLIN, 0};
        constexpr int step_ms = 50;  // bounds the delay in noticing the program's end and the deadline
        if (::poll(polled, 2, step_ms) <= 0) return;
        for (std::size_t i = 0; i < 2; ++i) {
            // The child is not reaped before the streams are closed or it has ended.
            if (polled[i].revents != 0 && !take(streams_[i]) && !ended_) ::kill(-pid_, SIGKILL);
        }
    }

    void enforce_deadline() {
        if (ended_ || finished_.timed_out || !deadline_ || monotonic_ms() < *deadline_) return;
        finished_.timed_out = true;
        // The child is not reaped yet, so the pid still identifies this group.
        ::kill(-pid_, SIGKILL);
    }

    void check_ended() {
        if (ended_) return;
        int status = 0;
        const auto who = ::waitpid(pid_, &status, WNOHANG);
        if (who == 0 || (who < 0 && errno == EINTR)) return;
        ended_ = monotonic_ms();
        if (who < 0) {
            // The status is lost: this process was started with SIGCHLD ignored, which exec(2) inherits.
            // Report a failure rather than an unproven success.
            finished_.exit_code = status_is_lost;
            return;
        }
        finished_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }

    pid_t pid_;
    const Command& command_;
    std::optional<std::int64_t> deadline_, ended_;
    Stream streams_[2];
    Finished finished_;
};

}  // namespace

Result<Finished> run_command(const Command& command) {
    WHEELYARD_ASSIGN(auto launch, Launch::prepare(command));
    launch.lay_out();
    WHEELYARD_ASSIGN(const auto in, input_file(command.input));
    WHEELYARD_ASSIGN(auto out, make_pipe());
    WHEELYARD_ASSIGN(auto err, make_pipe());
    WHEELYARD_ASSIGN(auto report, make_pipe());
    const pid_t pid = ::fork();
    if (pid < 0) return fail_errno("fork", command.argv[0], errno);
    if (pid == 0) {
        ::setpgid(0, 0);
        launch.exec(in.get(), out.write.get(), err.write.get(), report.write.get());
    }
    ::setpgid(pid, pid);  // parent and child both call it; an error means that the other was first
    out.write.reset();
    err.write.reset();
    report.write.reset();
    if (auto started = launch.outcome(report.read.get()); !started) {
        ::waitpid(pid, nullptr, 0);
        return fail(std::move(started.error()));
    }
    return Run(pid, command).finish(std::move(out.read), std::move(err.read));
}

namespace {

// Kills the children of this thread; a process without threads has no others. Only async-signal-safe calls.
void kill_children() {
    const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);  // proc(5)
    if (list < 0) return;
    char text[4096];
    pid_t pid = 0;
    for (ssize_t got = 0; (got = ::read(list, text, sizeof text)) > 0;) {
        for (ssize_t i = 0; i < got; ++i) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else {
                if (pid > 1) ::kill(pid, SIGKILL);
                pid = 0;
            }
        }
    }
    ::close(list);
}

// Waits for `program`, then ends every other descendant: each that loses its parent becomes a child of this
// process.
[[noreturn]] void reap(pid_t program) {
    bool has_ended = false;
    while (true) {
        if (has_ended) kill_children();
        const pid_t ended = ::waitpid(-1, nullptr, 0);
        if (ended == program) has_ended = true;
        if (ended < 0 && errno != EINTR) ::_exit(0);
    }
}

// Splits this process into a reaper, which never returns, and its child, which returns. `null` replaces the
// standard streams of the reaper; nothing else stays open in it.
void leave_reaper_behind(int null) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < 32; ++number)
        ::sigaction(number, &standard, nullptr);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t program = ::fork();
    if (program == 0) {
        ::setsid();
        return;
    }
    ::prctl(PR_SET_NAME, "wheelyard-reap", 0, 0, 0);
    for (int number = 0; number < 3; ++number)
        ::dup2(null, number);
    close_others();
    if (::chdir("/") != 0 || program < 0) ::_exit(1);
    reap(program);
}

}  // namespace

Result<std::int64_t> start_reaped(const Command& command, const fs::path& log) {
    WHEELYARD_ASSIGN(auto launch, Launch::prepare(command));
    launch.lay_out();
    WHEELYARD_ASSIGN(const auto in, open_read("/dev/null"));
    const Fd out(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!out) return fail_errno("open", log.native(), errno);
    WHEELYARD_ASSIGN(auto number, make_pipe());
    WHEELYARD_ASSIGN(auto report, make_pipe());
    const pid_t middle = ::fork();
    if (middle < 0) return fail_errno("fork", command.argv[0], errno);
    if (middle == 0) {
        // The middle process exits at once; init adopts the inner one and reaps it.
        const pid_t inner = ::fork();
        if (inner != 0) ::_exit(inner < 0 ? 1 : 0);
        ::setsid();
        close_others_at_exec();
        leave_reaper_behind(in.get());
        const pid_t self = ::getpid();
        [[maybe_unused]] const auto written = ::write(number.write.get(), &self, sizeof self);
        launch.exec(in.get(), out.get(), out.get(), report.write.get());
    }
    number.write.reset();
    report.write.reset();
    while (::waitpid(middle, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_t pid = 0;
    ssize_t got = 0;
    do
        got = ::read(number.read.get(), &pid, sizeof pid);
    while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof pid)) return fail_errno("fork", command.argv[0], EAGAIN);
    WHEELYARD_TRY(launch.outcome(report.read.get()));
    return std::int64_t{pid};
}

std::map<std::string, std::string> current_environment() {
    std::map<std::string, std::string> out;
    for (char** at = environ; at && *at; ++at) {
        const std::string_view setting(*at);
        const auto equals = setting.find('=');
        if (equals != std::string_view::npos)
            out.emplace(setting.substr(0, equals), setting.substr(equals + 1));
    }
    return out;
}

std::optional<fs::path> find_program(const std::string& program) {
    return find_in(program, own_search_path());
}

}  // namespace wheelyard::base
