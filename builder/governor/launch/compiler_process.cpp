// Starts compilers and interprets how they ended.
#include "builder/governor/launch/compiler_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/base/files/file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {

namespace {

// What GCC, Clang, nvcc, ld and make print when a subprocess was killed or could not allocate memory, in
// small letters.
constexpr std::array clues = {"killed signal terminated program",   // gcc of cc1
                              "terminated with signal 9",           // collect2 of ld, lto-wrapper of gcc
                              "died due to signal 9",               // nvcc
                              "terminated by signal 9",             // nvc++
                              "terminated by kill signal",          // ifort, ifx
                              "unable to execute command: killed",  // clang
                              "signal: killed",                     // go
                              "signal: 9, sigkill",                 // rustc
                              "ld returned 137 exit status",        // a wrapper of ld
                              "memory exhausted",
                              "out of memory",
                              "cannot allocate memory",
                              "std::bad_alloc"};

// For execvp(3), which does not modify the strings.
std::vector<char*> argv_of(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const auto& word : command)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    return argv;
}

}  // namespace

pid_t start_compiler(const std::vector<std::string>& command, const Spool& spool, const std::string& group) {
    auto argv = argv_of(command);
    const pid_t parent = ::getpid();
    // Until exec the child shares our memory, which is not copied. It makes only system calls; its
    // descriptors, signal mask and oom_score_adj are its own (vfork(2)).
    // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
    const pid_t pid = ::vfork();
    if (pid != 0) {
        if (pid > 0) ::setpgid(pid, pid);  // in the child too: neither may run before it is set
        return pid;
    }
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (spool.out() >= 0) ::dup2(spool.out(), STDOUT_FILENO);
    if (spool.err() >= 0) ::dup2(spool.err(), STDERR_FILENO);
    // Raising one's own score needs no privilege (proc(5)); the broker and the build tool keep theirs.
    if (const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
        if (::write(fd, "500", 3) < 0) errno = 0;  // without it the kernel may choose another victim
        ::close(fd);
    }
    if (!group.empty()) {
        if (const int fd = ::open(group.c_str(), O_WRONLY | O_CLOEXEC); fd >= 0) {
            if (::write(fd, "0", 1) < 0) errno = 0;  // make() checked this, so it fails rarely
            ::close(fd);
        }
    }
    ::execvp(argv[0], argv.data());
    const int why = errno;
    const char* reason = ::strerror(why);
    for (const char* part :
         {"wheelyard-governor: cannot run ", static_cast<const char*>(argv[0]), ": ", reason, "\n"}) {
        if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
    }
    ::_exit(why == ENOENT ? 127 : 126);
    // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
}

bool looks_killed_by_memory(int wait_status, std::string_view output) {
    if (WIFSIGNALED(wait_status)) return WTERMSIG(wait_status) == SIGKILL;
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) == 0) return false;
    if (WEXITSTATUS(wait_status) == 128 + SIGKILL) return true;
    const std::string text = base::ascii_lower(output);
    return std::any_of(clues.begin(), clues.end(),
                       [&](std::string_view clue) { return text.find(clue) != std::string::npos; });
}

bool is_ignored(int signal_number) {
    struct sigaction action {};
    return ::sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void become(const std::vector<std::string>& command) {
    auto argv = argv_of(command);
    ::execvp(argv[0], argv.data());
    const int why = errno;
    base::print(stderr, "wheelyard-governor: cannot run %s: %s\n", argv[0], ::strerror(why));
    ::_exit(why == ENOENT ? 127 : 126);
}

void exit_like(int wait_status) {
    if (WIFSIGNALED(wait_status)) {
        const int number = WTERMSIG(wait_status);
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);  // the compiler may have dumped core already
        ::signal(number, SIG_DFL);
        sigset_t only;
        ::sigemptyset(&only);
        ::sigaddset(&only, number);
        ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
        ::raise(number);
        ::_exit(128 + number);
    }
    ::_exit(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1);
}

namespace {

bool same_file(int a, int b) {
    struct stat first {
    }, second{};
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

// Says whether files there are memory: statfs(2)'s magic numbers of tmpfs and ramfs.
bool is_memory(const std::string& folder) {
    constexpr auto tmpfs = 0x01021994L, ramfs = 0x858458f6L;
    struct statfs system {};
    if (::statfs(folder.c_str(), &system) != 0) return true;
    const auto type = static_cast<long>(system.f_type) & 0xFFFFFFFFL;
    return type == tmpfs || type == ramfs;
}

// A file on a disk that no other process finds; empty if there is none.
base::Fd make_unlinked_file(const std::string& folder) {
    for (const std::string& candidate : {folder, std::string("/var/tmp"), std::string(".")}) {
        if (is_memory(candidate)) continue;
        std::string name = candidate + "/.wheelyard-output.XXXXXX";
        base::Fd fd(::mkostemp(name.data(), O_CLOEXEC));
        if (!fd) continue;
        ::unlink(name.c_str());
        return fd;
    }
    return {};
}

void copy_out(int from, int to) {
    std::array<char, 65536> buffer;
    for (off_t at = 0;;) {
        const auto got = ::pread(from, buffer.data(), buffer.size(), at);
        if (got <= 0) return;
        at += got;
        if (!base::write_all(to, {buffer.data(), static_cast<std::size_t>(got)})) return;
    }
}

}  // namespace

void SpooledStream::append(std::string_view bytes) {
    const auto into_memory = std::min(bytes.size(), max_spool_bytes - memory_.size());
    memory_.append(bytes.substr(0, into_memory));
    bytes.remove_prefix(into_memory);
    if (bytes.empty()) return;
    last_.append(bytes);
    if (last_.size() > 2 * clue_tail_bytes) last_.erase(0, last_.size() - clue_tail_bytes);
    if (in_file_ == 0 && dropped_ == 0) file_ = make_unlinked_file(folder_);
    // After a failed write the file ends there: what follows would be out of order.
    if (file_ && dropped_ == 0) {
        if (base::write_all(file_.get(), bytes)) {
            in_file_ += bytes.size();
            return;
        }
    }
    dropped_ += bytes.size();
}

void SpooledStream::show(int to) const {
    if (!base::write_all(to, memory_)) return;
    if (file_) copy_out(file_.get(), to);
    if (dropped_ == 0) return;
    static_cast<void>(base::write_all(to, "\nwheelyard-governor: up to " + base::render_bytes(dropped_) +
                                              " of the output are lost: no disk takes them\n" + last_));
}

std::string SpooledStream::tail() const {
    std::string end = memory_.substr(memory_.size() - std::min(memory_.size(), clue_tail_bytes)) + last_;
    return end.substr(end.size() - std::min(end.size(), clue_tail_bytes));
}

void Spool::Pipe::open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    read = base::Fd(ends[0]);
    write = base::Fd(ends[1]);
    ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
}

// Reads no more than the pipe holds now: a process that the compiler left running may write for ever.
void Spool::Pipe::take() {
    int held = 0;
    if (!read || ::ioctl(read.get(), FIONREAD, &held) != 0) return;
    std::array<char, 65536> buffer;
    for (std::size_t left = std::max<std::size_t>(1, static_cast<std::size_t>(held)); left > 0;) {
        const auto got = ::read(read.get(), buffer.data(), std::min(left, buffer.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) read.reset();  // no writer is left
        if (got <= 0) return;
        stream.append({buffer.data(), static_cast<std::size_t>(got)});
        left -= static_cast<std::size_t>(got);
    }
}

Spool::Spool(const std::string& folder)
    : is_one_(same_file(STDOUT_FILENO, STDERR_FILENO)), out_(folder), err_(folder) {
    out_.open();
    if (!is_one_) err_.open();
}

void Spool::close_writers() {
    out_.write.reset();
    err_.write.reset();
}

std::array<pollfd, 2> Spool::readers() const {
    return {pollfd{out_.read.get(), POLLIN, 0}, pollfd{err_.read.get(), POLLIN, 0}};
}

void Spool::take() {
    out_.take();
    err_.take();
}

void Spool::show() const {
    out_.stream.show(STDOUT_FILENO);
    err_.stream.show(STDERR_FILENO);
}

std::string Spool::tail() const {
    return (is_one_ ? out_ : err_).stream.tail();
}

namespace {

constexpr std::size_t max_version = 120;

}  // namespace

const std::string& CompilerVersions::of(const std::string& compiler) {
    struct stat status {};
    const bool there = ::stat(compiler.c_str(), &status) == 0;
    const std::string name = compiler + '\t' + (there ? std::to_string(status.st_mtime) : "");
    if (const auto found = asked_.find(name); found != asked_.end()) return found->second;
    base::Command command;
    command.argv = {compiler, "--version"};
    command.timeout_ms = version_timeout_ms;
    const auto finished = base::run_command(command);
    std::string version(base::base_name(compiler));
    if (finished && finished->exit_code == 0) {
        const auto lines = base::split_lines(finished->out);
        if (!lines.empty()) {
            version += ' ';
            version += lines[0].substr(0, max_version);
        }
    }
    return asked_[name] = version;
}

}  // namespace wheelyard::governor
